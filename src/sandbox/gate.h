// One change at a time: who changes a sandbox waits until nobody else is inside; who only starts
// something in it shares it with others who do. A change that waits goes before those who come
// later to share, so it is not put off for ever.
//
// Thread-safe. A thread that is inside already is turned away instead of waiting for itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "cordon/clock.h"

namespace cordon::sandbox {

class Gate {
 public:
  // Inside until destroyed; false: turned away.
  class Stay {
   public:
    Stay() = default;
    Stay(Gate* gate, bool alone) : gate_(gate), alone_(alone) {}
    Stay(Stay&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), alone_(other.alone_) {}
    Stay& operator=(Stay&&) = delete;
    ~Stay() {
      if (gate_ != nullptr) gate_->leave(alone_);
    }
    [[nodiscard]] explicit operator bool() const { return gate_ != nullptr; }

   private:
    Gate* gate_ = nullptr;
    bool alone_ = false;
  };

  enum class Passed : std::uint8_t { yes, timed_out, turned_away };

  [[nodiscard]] Stay change();
  [[nodiscard]] Stay share();
  // Waits, up to `patience` of real time, until no change is going on; stays outside.
  [[nodiscard]] Passed pass(Duration patience);
  // Whether this thread is inside.
  [[nodiscard]] bool inside() const;

 private:
  void leave(bool alone);
  [[nodiscard]] bool has(std::thread::id thread) const;  // with the mutex

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::thread::id> in_;
  bool alone_ = false;  // the one in in_ changes something
  int changes_waiting_ = 0;
};

}  // namespace cordon::sandbox
