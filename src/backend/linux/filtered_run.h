// For tests: runs a program under the compiled filters, for real.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {

struct FilteredRun {
  int exit_code = -1;  // -1: ended by a signal, or not at all
  int signal = 0;
  bool timed_out = false;
  std::string output;  // stdout and stderr
};

// The program is looked up in PATH. It runs in a process group of its own, which is killed at the
// deadline. Exit code 125: the filters could not be installed; 127: no such program.
[[nodiscard]] FilteredRun run_filtered(const std::vector<BpfProgram>& filters,
                                       std::vector<std::string> argv,
                                       const std::string& directory = "/",
                                       std::chrono::seconds deadline = std::chrono::seconds(50));

}  // namespace cordon::linux_backend
