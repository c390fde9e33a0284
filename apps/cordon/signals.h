// The signals the command gets while a program runs. No work is done in signal handlers: they are
// blocked in every thread and taken by one that waits for them.
#pragma once

#include <csignal>
#include <functional>
#include <memory>

#include "run_control.h"

namespace cordon::app {

// Blocks SIGINT, SIGQUIT, SIGTERM, SIGHUP and SIGWINCH, except those that the caller of the command
// ignores (nohup, background jobs). Make it before any other thread. At its end they work as
// before; what came until then was meant for the run and is dropped.
class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  [[nodiscard]] const sigset_t& signals() const { return blocked_; }

 private:
  sigset_t blocked_;
  sigset_t before_;
};

// While it lives, acts on what comes; what came since the block was made is not lost. Its thread
// goes on waiting for signals, and does nothing with them, until the command ends: nobody has to
// wait for its end.
class SignalRelay {
 public:
  // `resized` is called for SIGWINCH, in the relay's thread. Throws std::system_error.
  SignalRelay(const SignalBlock& block, RunControl& control, std::function<void()> resized);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

 private:
  struct Shared;
  static void act_until_stopped(const std::shared_ptr<Shared>& shared);

  const std::shared_ptr<Shared> shared_;  // with the thread
};

}  // namespace cordon::app
