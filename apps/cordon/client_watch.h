// Notices that whoever started the command as a server has no more use for it: the other end of
// stdin is closed, or the process that started the command is gone. The run then gets some time to
// end by itself, as MCP's clients give it, and is ended.
#pragma once

#include <thread>

#include "base/fd.h"
#include "cordon/clock.h"
#include "run_control.h"
#include "wake.h"

namespace cordon::app {

class ClientWatch {
 public:
  // Watches until its own end. A stdin that nobody can hang up on, such as a file, is not watched.
  ClientWatch(RunControl& control, Duration grace, Wake stop);
  ~ClientWatch();
  ClientWatch(const ClientWatch&) = delete;
  ClientWatch& operator=(const ClientWatch&) = delete;

 private:
  void watch();
  // False: this object ends.
  [[nodiscard]] bool wait_for_hang_up() const;

  RunControl& control_;
  const Duration grace_;
  const Wake stop_;
  base::Fd parent_;  // not its thread, which may end while it goes on
  std::thread thread_;
};

}  // namespace cordon::app
