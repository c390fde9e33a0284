#include "sandbox/gate.h"

#include <algorithm>
#include <chrono>

namespace cordon::sandbox {

bool Gate::has(std::thread::id thread) const { return std::ranges::find(in_, thread) != in_.end(); }

bool Gate::inside() const {
  const std::scoped_lock lock(mutex_);
  return has(std::this_thread::get_id());
}

Gate::Stay Gate::change() {
  std::unique_lock lock(mutex_);
  if (has(std::this_thread::get_id())) return {};
  ++changes_waiting_;
  changed_.wait(lock, [this] { return in_.empty(); });
  --changes_waiting_;
  in_.push_back(std::this_thread::get_id());
  alone_ = true;
  return {this, true};
}

Gate::Stay Gate::share() {
  std::unique_lock lock(mutex_);
  if (has(std::this_thread::get_id())) return {};
  changed_.wait(lock, [this] { return !alone_ && changes_waiting_ == 0; });
  in_.push_back(std::this_thread::get_id());
  return {this, false};
}

Gate::Passed Gate::pass(Duration patience) {
  std::unique_lock lock(mutex_);
  const auto open = [this] { return !alone_; };
  if (open()) return Passed::yes;
  if (has(std::this_thread::get_id())) return Passed::turned_away;
  constexpr Duration kForEver = std::chrono::hours(24 * 365);  // what no clock overflows with
  if (patience >= kForEver) {
    changed_.wait(lock, open);
    return Passed::yes;
  }
  return changed_.wait_for(lock, patience, open) ? Passed::yes : Passed::timed_out;
}

void Gate::leave(bool alone) {
  const std::scoped_lock lock(mutex_);
  in_.erase(std::ranges::find(in_, std::this_thread::get_id()));
  if (alone) alone_ = false;
  changed_.notify_all();
}

}  // namespace cordon::sandbox
