// Things that are expensive to make and the same for every run, made ahead on the keeper's thread.
// Each is handed out once.
//
// Nothing is made ahead until a second one was asked for: a command that runs one program needs no
// stock. What even the first run should not have to wait for can be begun early. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "backend/linux/keeper.h"

namespace cordon::linux_backend {

template <typename T>
class Stock {
 public:
  // `make` runs on the keeper's thread; nothing means that it does not work now.
  Stock(Keeper& keeper, std::function<std::optional<T>()> make)
      : keeper_(keeper), state_(std::make_shared<State>()) {
    state_->make = std::move(make);
  }

  // Begins to make the first one.
  void begin() {
    {
      const std::lock_guard lock(state_->mutex);
      state_->first_to_come = true;
    }
    keeper_.post([state = state_] {
      std::optional<T> made = state->make();
      const std::lock_guard lock(state->mutex);
      if (made) state->ready.push_back(*std::move(made));
      state->first_to_come = false;
      state->changed.notify_all();
    });
  }

  // Nothing if there is none now: the caller makes its own. Waits for one that was begun.
  [[nodiscard]] std::optional<T> take() {
    std::unique_lock lock(state_->mutex);
    state_->changed.wait(lock, [&] { return !state_->first_to_come; });
    std::optional<T> taken;
    if (!state_->ready.empty()) {
      taken = std::move(state_->ready.back());
      state_->ready.pop_back();
    }
    const bool again = std::exchange(state_->asked_before, true);
    if (again && !state_->refilling && state_->ready.size() < kReady) {
      state_->refilling = true;
      keeper_.post([state = state_] { refill(*state); });
    }
    return taken;
  }

 private:
  static constexpr std::size_t kReady = 4;

  struct State {  // shared with jobs of the keeper
    std::function<std::optional<T>()> make;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<T> ready;
    bool first_to_come = false;
    bool asked_before = false;
    bool refilling = false;
  };

  static void refill(State& state) {
    std::unique_lock lock(state.mutex);
    while (state.ready.size() < kReady) {
      lock.unlock();
      std::optional<T> made = state.make();
      lock.lock();
      if (!made) break;  // nobody depends on it
      state.ready.push_back(*std::move(made));
    }
    state.refilling = false;
  }

  Keeper& keeper_;
  std::shared_ptr<State> state_;
};

}  // namespace cordon::linux_backend
