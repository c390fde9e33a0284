// The table of what follows from what is known of an ending, for the tests of decide(). Its rows
// stand in more than one file.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <ostream>

#include "outcome/decide.h"

namespace cordon::outcome {

inline Usage used(Duration user, Duration system) {
  Usage usage;
  usage.cpu_user = user;
  usage.cpu_system = system;
  return usage;
}

struct Case {
  const char* name;
  // What is known …
  std::optional<Verdict> first_action;
  int exit_code;
  int signal;
  Limits limits;
  Usage usage;
  // … and what follows from it.
  Verdict verdict;
  Termination::Type type;
  int code;
  int kept_signal;
  std::optional<int> program_code;
  const char* limit;  // "": none
  const char* hint;   // "": none
};
inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class DecideTest : public testing::TestWithParam<Case> {};

inline const Limits kCpu{.cpu_time = std::chrono::seconds(2)};
inline const Limits kFile{.file_size_bytes = 4096};
inline const std::optional<int> kNone;

}  // namespace cordon::outcome
