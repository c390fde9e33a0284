// Waiting for what no descriptor tells of.
#pragma once

#include <chrono>
#include <thread>

namespace cordon::support {

// Until it holds, which is looked at again and again. False: it never did.
template <typename Condition>
[[nodiscard]] bool eventually(const Condition& holds,
                              std::chrono::seconds patience = std::chrono::seconds(20)) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace cordon::support
