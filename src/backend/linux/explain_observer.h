// Hears of the system calls of one explained run, answers them as the ordinary filter would, and
// keeps what was refused.
//
// A thread of its own, for as long as the run. When it or the supervisor ends, the kernel refuses
// what would have asked it (ENOSYS): nothing passes for want of an answer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "backend/linux/explain_host.h"
#include "backend/linux/explain_judge.h"
#include "backend/linux/explain_program.h"
#include "backend/linux/seccomp.h"
#include "base/fd.h"
#include "cordon/error.h"
#include "outcome/denial_log.h"

struct seccomp_data;

namespace cordon::linux_backend {

// Flags for the call that installs the filter and makes the listener, as this kernel has them.
// Error: unsupported, if it cannot notify at all.
[[nodiscard]] Result<unsigned> listener_flags();

struct ObserverSetup {
  base::Fd listener;                 // of the filter with SeccompOptions::explain
  pid_t program = -1;                // parked
  std::vector<BpfProgram> ordinary;  // the same options without it
  Surroundings around;
};

class Observer {
 public:
  // Answers from now on. Errors: system, resource_exhausted.
  [[nodiscard]] static Result<std::unique_ptr<Observer>> start(ObserverSetup setup);
  ~Observer();
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;

  // Call it once every process of the run has ended; what the last of them asked for is in it.
  [[nodiscard]] const outcome::DenialLog& finish();

 private:
  Observer(ObserverSetup setup, base::Fd root, base::Fd stop);
  void run();
  void hear();
  struct Heard {
    std::vector<PathAttempt> paths;
    std::optional<SocketAttempt> socket;
  };
  [[nodiscard]] Heard look(pid_t task, const seccomp_data& call) const;
  [[nodiscard]] bool still_waits(std::uint64_t id) const;
  void answer(std::uint64_t id, int error);
  void judge_all(const Heard& heard);

  base::Fd listener_;
  base::Fd stop_;
  std::vector<BpfProgram> ordinary_;
  Surroundings around_;
  ObservedProgram program_;
  HostFiles host_;
  HostLookup lookup_;
  outcome::DenialLog log_;
  std::vector<char> notification_;
  std::vector<char> response_;
  std::thread thread_;
};

}  // namespace cordon::linux_backend
