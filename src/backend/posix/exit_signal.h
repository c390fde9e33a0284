// Tells of a child's end where the kernel has no pidfds: a thread waits and makes a pipe readable.
#pragma once

#include <sys/types.h>

#include <thread>

#include "base/fd.h"

namespace cordon::posix {

class ExitSignal {
 public:
  // Does not reap `pid`, a child of ours: call join() before you do.
  explicit ExitSignal(pid_t pid);
  ~ExitSignal();
  ExitSignal(const ExitSignal&) = delete;
  ExitSignal& operator=(const ExitSignal&) = delete;

  // The child has ended: waits for the thread to have noticed.
  void join();
  // Readable once the child has ended; < 0 if it could not be made.
  [[nodiscard]] int fd() const { return reader_.get(); }

 private:
  base::Fd reader_;
  base::Fd writer_;
  std::thread waiter_;
};

}  // namespace cordon::posix
