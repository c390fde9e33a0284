// Plan: what a backend will do for a request, before it does anything. Plain data, for people and
// for `--require`.
#pragma once

#include <string>
#include <vector>

#include "cordon/outcome.h"

namespace cordon {

struct PlanStep {
  std::string name;    // "mount", "landlock", "limit" …
  std::string detail;  // "/usr, read-only"

  friend bool operator==(const PlanStep&, const PlanStep&) = default;
};

struct Plan {
  std::string backend;
  std::vector<PlanStep> steps;  // in order, up to the program's first instruction
  Enforcement enforcement;
};

}  // namespace cordon
