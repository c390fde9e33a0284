#include <algorithm>
#include <utility>

#include "backend/memory/simulation.h"

namespace cordon::memory {

Lock::Lock(Simulation& simulation)
    : simulation_(simulation), held_(simulation.mutex_, std::defer_lock) {
  acquire();
}

Lock::~Lock() {
  release();
  do_put_off();
}

void Lock::acquire() {
  if (held_.try_lock()) return;
  simulation_.entering_.fetch_add(1);
  held_.lock();
  simulation_.entering_.fetch_sub(1);
}

void Lock::release() { held_.unlock(); }

void Lock::do_put_off() {
  while (!calls_.empty() || !drops_.empty()) {
    const auto calls = std::exchange(calls_, {});
    const auto drops = std::exchange(drops_, {});
    for (const auto& call : calls) call();
  }
}

void Lock::flush() {
  constexpr std::size_t kManyDrops = 64;
  if (calls_.empty() && drops_.size() < kManyDrops) return;
  begin_outside();
  do_put_off();
  end_outside();
}

void Lock::begin_outside() {
  simulation_.outside_.push_back(std::this_thread::get_id());
  release();
}

void Lock::end_outside() {
  acquire();
  auto& outside = simulation_.outside_;
  outside.erase(std::ranges::find(outside, std::this_thread::get_id()));
  simulation_.changed();
}

void Lock::give_way() {
  constexpr int kPatience = 1000;
  if (simulation_.entering_.load(std::memory_order_relaxed) == 0) return;
  release();
  for (int i = 0; i < kPatience && simulation_.entering_.load() > 0; ++i) {
    std::this_thread::yield();
  }
  acquire();
}

}  // namespace cordon::memory
