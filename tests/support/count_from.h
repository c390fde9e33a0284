// How often a test does what it does: less by default than in a soak (tools/soak).
#pragma once

#include <algorithm>
#include <cstdlib>

namespace cordon::support {

// The value of an environment variable, or `usual`.
[[nodiscard]] inline int count_from(const char* variable, int usual) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? usual : std::max(1, std::atoi(value));
}

}  // namespace cordon::support
