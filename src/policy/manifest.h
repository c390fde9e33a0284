// Manifest: what a program says about itself and asks for (C75). Asks only: it allows nothing.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/error.h"
#include "policy/ceiling.h"

namespace cordon::policy {

struct Manifest {
  Place place{};
  std::string name{};
  std::string version{};
  Placed<std::string> command{};  // a name for PATH, or a path inside the bundle: "./bin/server"
  std::vector<std::string> args{};
  Ask<std::string> cwd{};                                          // inside the bundle
  std::vector<std::pair<std::string, Placed<std::string>>> env{};  // added, never overriding (C59)
  Texts read{};                                                    // absolute, or inside the bundle
  Texts write{};                                                   // likewise
  Ask<Network> network{};
  LimitValues limits{};
};

// JSON if the name ends in ".json", else TOML. Errors: invalid_argument, "FILE:LINE:COLUMN: …".
[[nodiscard]] Result<Manifest> read_manifest(std::string_view text, const std::string& file);

}  // namespace cordon::policy
