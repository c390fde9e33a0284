// Waits for a log to grow.
#pragma once

#include <csignal>

#include "base/fd.h"

namespace cordon::app {

// Make it before the log is read for the first time: what is written after that is not missed.
// SIGINT and SIGTERM are blocked from then on; they end the waiting.
class AuditWatch {
 public:
  explicit AuditWatch(int directory);

  // True: look again. False: the user has had enough, or nobody reads our output any more.
  [[nodiscard]] bool wait() const;

 private:
  base::Fd changes_;
  base::Fd signals_;
};

}  // namespace cordon::app
