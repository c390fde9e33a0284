// The guarantees by name: the keys of `enforcement` in JSON, and of `--require`.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "cordon/outcome.h"

namespace cordon::outcome {

struct NamedGuarantee {
  std::string_view name;
  Guarantee Enforcement::* member;
};

inline constexpr std::array<NamedGuarantee, 8> kGuarantees = {{
    {"memory", &Enforcement::memory},
    {"cpu", &Enforcement::cpu},
    {"processes", &Enforcement::processes},
    {"filesystem", &Enforcement::filesystem},
    {"network", &Enforcement::network},
    {"syscalls", &Enforcement::syscalls},
    {"capabilities", &Enforcement::capabilities},
    {"timeout", &Enforcement::timeout},
}};

// The object `enforcement` of an outcome: each name with describe().
[[nodiscard]] std::string to_json(const Enforcement& enforcement);

}  // namespace cordon::outcome
