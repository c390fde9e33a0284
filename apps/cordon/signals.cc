#include "signals.h"

#include <pthread.h>

#include <array>
#include <mutex>
#include <thread>
#include <utility>

namespace cordon::app {
namespace {

constexpr std::array kWatched = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH};

bool ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

SignalBlock::SignalBlock() {
  sigemptyset(&blocked_);
  for (const int signal : kWatched) {
    if (!ignored(signal)) sigaddset(&blocked_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &blocked_, &before_);
}

SignalBlock::~SignalBlock() {
  // A relay's thread may take them first.
  constexpr timespec kAtOnce{};
  while (sigtimedwait(&blocked_, nullptr, &kAtOnce) > 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

struct SignalRelay::Shared {
  sigset_t signals;
  std::mutex mutex;     // held while something is done
  RunControl* control;  // null: nothing is to be done any more
  std::function<void()> resized;
};

SignalRelay::SignalRelay(const SignalBlock& block, RunControl& control,
                         std::function<void()> resized)
    : shared_(new Shared{.signals = block.signals(),
                         .mutex = {},
                         .control = &control,
                         .resized = std::move(resized)}) {
  std::thread([shared = shared_] { act_until_stopped(shared); }).detach();
}

SignalRelay::~SignalRelay() {
  const std::lock_guard lock(shared_->mutex);
  shared_->control = nullptr;
}

void SignalRelay::act_until_stopped(const std::shared_ptr<Shared>& shared) {
  while (true) {
    int signal = 0;
    if (sigwait(&shared->signals, &signal) != 0) continue;
    const std::lock_guard lock(shared->mutex);
    if (shared->control == nullptr) return;
    switch (signal) {
      case SIGINT:
      case SIGQUIT:
        shared->control->interrupt(signal);
        break;
      case SIGWINCH:
        if (shared->resized) shared->resized();
        break;
      default:
        shared->control->cancel();
    }
  }
}

}  // namespace cordon::app
