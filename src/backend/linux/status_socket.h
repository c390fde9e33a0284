// What the processes of a sandbox report while they are set up.
#pragma once

#include <sys/types.h>

#include <array>
#include <optional>
#include <utility>

#include "backend/linux/spawner/script.h"
#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

class StatusSocket {
 public:
  [[nodiscard]] static Result<StatusSocket> make();

  [[nodiscard]] int theirs() const { return theirs_.get(); }
  // After the script was sent: only then is the end of all reporters seen as an end.
  void close_theirs() { theirs_.reset(); }

  struct Heard {
    spawner::Report report;
    pid_t sender = -1;  // as the kernel says, in our pid namespace
  };
  // The next report; nothing once all reporters have ended or executed, or one of `ends` (pidfds;
  // -1: none) is readable and no report is left. Error: timed_out.
  [[nodiscard]] Result<std::optional<Heard>> next(TimePoint until,
                                                  std::array<int, 2> ends = {-1, -1});
  // The descriptor that came with the last `listening`; empty: none did.
  [[nodiscard]] base::Fd take_listener() { return std::move(listener_); }
  // Until the descriptor is readable, or all reporters have ended.
  void wait_for(int fd, TimePoint until) const;
  // Lets a parked process go on.
  [[nodiscard]] bool release();
  // When all reporters have ended or executed.
  void close() { ours_.reset(); }
  // Makes every process that is or will be parked end.
  void abandon();

 private:
  base::Fd ours_;
  base::Fd theirs_;
  base::Fd listener_;
};

}  // namespace cordon::linux_backend
