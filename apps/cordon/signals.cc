#include "signals.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <utility>

namespace cordon::app {
namespace {

// Also what tells the relay's own thread to look whether it should stop.
constexpr int kNudge = SIGWINCH;

constexpr std::array kWatched = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH};

bool ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool contains_any(const sigset_t& pending, const sigset_t& wanted) {
  return std::ranges::any_of(kWatched, [&](int signal) {
    return sigismember(&pending, signal) == 1 && sigismember(&wanted, signal) == 1;
  });
}

}  // namespace

SignalBlock::SignalBlock() {
  sigemptyset(&blocked_);
  for (const int signal : kWatched) {
    if (signal == kNudge || !ignored(signal)) sigaddset(&blocked_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

SignalBlock::~SignalBlock() {
  sigset_t pending;
  while (sigpending(&pending) == 0 && contains_any(pending, blocked_)) {
    int signal = 0;
    (void)sigwait(&blocked_, &signal);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

SignalRelay::SignalRelay(const SignalBlock& block, RunControl& control,
                         std::function<void()> resized)
    : signals_(block.signals()),
      control_(control),
      resized_(std::move(resized)),
      thread_([this] { act_until_stopped(); }) {}

SignalRelay::~SignalRelay() {
  stopped_ = true;
  pthread_kill(thread_.native_handle(), kNudge);
  thread_.join();
}

void SignalRelay::act_until_stopped() {
  while (true) {
    int signal = 0;
    if (sigwait(&signals_, &signal) != 0) continue;
    if (stopped_) return;
    switch (signal) {
      case SIGINT:
      case SIGQUIT:
        control_.interrupt(signal);
        break;
      case SIGWINCH:
        if (resized_) resized_();
        break;
      default:
        control_.cancel();
    }
  }
}

}  // namespace cordon::app
