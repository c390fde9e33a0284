// Starting runsc: as a program that goes on, or as one that does something and ends.
//
// It gets an environment of its own, none of the caller's descriptors, and where there is a control
// group is in it before its first instruction.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::gvisor_backend {

// What is seen at a place, by this runsc alone.
struct Mount {
  base::Fd tree;  // of open_tree
  std::string at;
};

struct Start {
  std::vector<std::string> argv;  // the first is the path of the program
  int stdio[3];
  std::span<const int> join{};      // control files of the group (posix::ChildPlan::join)
  std::span<const Mount> mounts{};  // in a mount namespace of its own, if there are any
  bool dies_with_thread = false;    // killed when the calling thread ends
  bool terminal = false;  // stdio is one, and becomes the controlling one of a new session
};

struct Running {
  pid_t pid = -1;
  base::Fd pidfd;
};

// Error: what kept it from being executed.
[[nodiscard]] Result<Running> start(const Start& start);

struct Finished {
  int exit_code = 0;  // 128 + n: died of signal n
  std::string out;
  std::string err;
};

// Runs it to its end, without input. Of its output no more than a few MiB are kept. Errors: those
// of start(); timed_out, and then it has been killed. `tick` is called now and then meanwhile.
[[nodiscard]] Result<Finished> run(std::vector<std::string> argv, Duration patience,
                                   const std::function<void()>& tick = {});

// How it ended, reaped: as Finished::exit_code. Waits for that.
[[nodiscard]] int reap(pid_t pid);

}  // namespace cordon::gvisor_backend
