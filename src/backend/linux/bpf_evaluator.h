// What the kernel would answer to a system call under given seccomp filters. A small
// interpreter of classic BPF; nothing is installed or called.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cordon::linux_backend {

// SECCOMP_RET_… with its data. Nothing: the program is not one that the kernel would accept (jump
// or load out of bounds, unknown instruction, no end).
[[nodiscard]] std::optional<std::uint32_t> evaluate(std::span<const sock_filter> program,
                                                    const seccomp_data& call);

// The strictest answer of all; of equally strict ones that of the filter installed last.
[[nodiscard]] std::optional<std::uint32_t> evaluate(
    std::span<const std::vector<sock_filter>> programs, const seccomp_data& call);

}  // namespace cordon::linux_backend
