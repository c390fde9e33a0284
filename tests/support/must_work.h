// Skips that can be turned into failures: CORDON_MUST_WORK=linux,cgroup names what has to work on
// this machine.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace cordon::support {

inline bool must_work(std::string_view area) {
  const char* const list = std::getenv("CORDON_MUST_WORK");
  return list != nullptr &&
         (',' + std::string(list) + ',').find(',' + std::string(area) + ',') != std::string::npos;
}

}  // namespace cordon::support

// Prints the missing capability and skips, unless CORDON_MUST_WORK names `area`: then it fails.
#define CORDON_SKIP_WITHOUT(area, what)                                               \
  do {                                                                                \
    if (::cordon::support::must_work(area)) FAIL() << "CORDON_MUST_WORK: " << (what); \
    GTEST_SKIP() << (area) << ": " << (what);                                         \
  } while (false)
