// Things that are expensive to make and the same for every run, made ahead on the keeper's thread.
// Each is handed out once.
//
// One is made for a run that is expected; more only once a second one was asked for: a command that
// runs one program needs no stock. What a run is done with and is as good as new can be put back.
// Thread-safe.
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
  static constexpr std::size_t kReady = 4;
  // When those that were taken are replaced: at once, or by replace(), since they may come back.
  enum class Replaced : std::uint8_t { at_once, later };

  // `make` runs on the keeper's thread; nothing means that it does not work now.
  Stock(Keeper& keeper, std::function<std::optional<T>()> make,
        Replaced replaced = Replaced::at_once)
      : keeper_(keeper), replaced_(replaced), state_(std::make_shared<State>()) {
    state_->make = std::move(make);
  }

  // One is going to be taken soon.
  void expect() {
    const std::lock_guard lock(state_->mutex);
    if (state_->ready.empty()) refill(1);
  }

  // Nothing if there is none now: the caller makes its own.
  [[nodiscard]] std::optional<T> take() {
    std::unique_lock lock(state_->mutex);
    // To wait for the one that is being made is faster than to begin another. But only one can have
    // that.
    if (state_->ready.empty() && state_->refilling && !state_->awaited) {
      state_->awaited = true;
      state_->changed.wait(lock, [&] { return !state_->ready.empty() || !state_->refilling; });
      state_->awaited = false;
    }
    std::optional<T> taken;
    if (!state_->ready.empty()) {
      taken = std::move(state_->ready.back());
      state_->ready.pop_back();
    }
    ++state_->asked;
    if (replaced_ == Replaced::at_once) refill_for_more();
    return taken;
  }

  // None of those that were taken comes back now.
  void replace() {
    const std::lock_guard lock(state_->mutex);
    refill_for_more();
  }

  // Whether put() has a use for another one.
  [[nodiscard]] bool wanted() const {
    const std::lock_guard lock(state_->mutex);
    return state_->asked_again() && state_->ready.size() < kReady;
  }

  // One that is as good as new, for the next run.
  void put(T one) {
    const std::lock_guard lock(state_->mutex);
    state_->ready.push_back(std::move(one));
    state_->changed.notify_all();
  }

 private:
  struct State {  // shared with jobs of the keeper
    [[nodiscard]] bool asked_again() const { return asked > 1; }

    std::function<std::optional<T>()> make;
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<T> ready;
    std::size_t asked = 0;
    bool refilling = false;
    bool awaited = false;
  };

  // The lock is held.
  void refill_for_more() {
    if (state_->asked_again() && state_->ready.size() < kReady) refill(kReady);
  }
  void refill(std::size_t wanted) {
    if (std::exchange(state_->refilling, true)) return;
    keeper_.post([state = state_, wanted] {
      std::unique_lock lock(state->mutex);
      while (state->ready.size() < wanted) {
        lock.unlock();
        std::optional<T> made = state->make();
        lock.lock();
        if (!made) break;  // nobody depends on it
        state->ready.push_back(*std::move(made));
        state->changed.notify_all();
      }
      state->refilling = false;
      state->changed.notify_all();
    });
  }

  Keeper& keeper_;
  Replaced replaced_;
  std::shared_ptr<State> state_;
};

}  // namespace cordon::linux_backend
