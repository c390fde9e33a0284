// For tests in which a program has to come to something before a time is over: on a slow machine
// (an emulated one) CORDON_TEST_SLOWNESS=10 makes such times ten times as long.
#pragma once

#include <chrono>
#include <cstdlib>

namespace cordon::support {

inline std::chrono::milliseconds enough(std::chrono::milliseconds time) {
  const char* const factor = std::getenv("CORDON_TEST_SLOWNESS");
  const int times = factor == nullptr ? 1 : std::atoi(factor);
  return times > 1 ? time * times : time;
}

}  // namespace cordon::support
