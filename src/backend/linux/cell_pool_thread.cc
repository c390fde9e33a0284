// The part of cell_pool.h that its thread does.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <utility>

#include "backend/linux/cell_pool.h"
#include "backend/linux/linux_backend.h"

namespace cordon::linux_backend {
namespace {

using std::chrono::milliseconds;

constexpr int kNice = 10;
constexpr auto kTroublePause = milliseconds(500);  // after one that could not be made
constexpr auto kLongest = milliseconds(60'000);

// An eventfd, or a timer, which is read in the same way. Does not block.
bool has_fired(int fd) {
  eventfd_t count = 0;
  return ::eventfd_read(fd, &count) == 0;
}

}  // namespace

void CellPool::work() {
  // Only what is left of the processors.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
  std::unique_lock lock(mutex_);
  while (!closing_) {
    std::vector<std::unique_ptr<Cell>> ended = std::move(discarded_);
    discarded_.clear();
    std::vector<Left> left;
    if (!can_wait(left_)) std::swap(left, left_);
    if (!left_.empty()) refill_soon();
    if (!busy() || spent_.size() >= options_.size)
      std::ranges::move(spent_, std::back_inserter(ended));
    std::erase(spent_, nullptr);
    if (!spent_.empty()) refill_soon();
    lock.unlock();
    ended.clear();
    end_cells(left);
    const TimePoint look = tend();
    lock.lock();
    keep(std::move(left));
    discard_dead();
    if (!discarded_.empty()) continue;
    if (make_one(lock)) continue;
    replace_groups();
    wait(lock, look);
  }
  std::vector<std::unique_ptr<Cell>> all = std::move(discarded_);
  std::ranges::move(spent_, std::back_inserter(all));
  spent_.clear();
  for (Kind& kind : kinds_) std::ranges::move(kind.ready, std::back_inserter(all));
  kinds_.clear();
  left_.clear();
  lock.unlock();
}

CellPool::Kind* CellPool::most_wanting() {
  Kind* most = nullptr;
  for (Kind& kind : kinds_) {
    if (kind.ready.size() >= kind.wanted) continue;
    if (most == nullptr || kind.ready.size() < most->ready.size()) most = &kind;
  }
  if (most == nullptr) return nullptr;
  // What is ready is worth more than what is left.
  if (memory_used_up()) std::ranges::for_each(kinds_, [&](Kind& kind) { keep_fewer(kind, 0); });
  if (memory_used_up()) return nullptr;
  if (ready() < options_.size) return most;
  if (!most->ready.empty()) return nullptr;
  // The one that was not asked for the longest gives way, but not to one before it: they would push
  // each other out for ever.
  for (auto kind = kinds_.rbegin(); &*kind != most; ++kind) {
    if (kind->ready.empty()) continue;
    shrink(*kind, kind->ready.size() - 1);
    return most;
  }
  return nullptr;
}

bool CellPool::make_one(std::unique_lock<std::mutex>& lock) {
  Kind* kind = most_wanting();
  if (kind == nullptr) return false;
  // What a tenant's run will leave soon need not be made.
  std::size_t around = kind->ready.size();
  if (kind->remains.empty()) around += kind->out;
  const bool scarce = around * 2 < kind->wanted;
  if (!scarce && busy()) {
    refill_soon();
    return false;
  }
  Place& place = *kind->place;
  const SharedPlan plan = kind->plan;
  Remains remains = take_remains(*kind);
  lock.unlock();
  if (!backend_.weakened().unclean) remains.clean();
  // A request with others sets them when it takes it.
  auto made =
      Cell::make(backend_, place, *plan, limits_while_set_up(plan->groups), {}, std::move(remains));
  if (made) (*made)->prepare_to_wait(*plan);
  lock.lock();
  if (!made) {
    trouble_ = std::move(made.error());
    changed_.notify_all();
    wait(lock, real_clock().now() + kTroublePause);
    trouble_.reset();
    return true;
  }
  kind = find(place, plan);
  // Meanwhile fewer may be wanted: one too many would stand in the way of what is.
  if (kind == nullptr || closing_ || kind->ready.size() >= kind->wanted) {
    discard(std::move(*made), counts_.given_up);
    return true;
  }
  ++counts_.made;
  if ((*made)->reused()) ++counts_.reused;
  put(*kind, std::move(*made));
  changed_.notify_all();
  return true;
}

// Those in sandboxes that are ready do not come back soon; but while requests come, others do.
void CellPool::replace_groups() {
  if (busy()) return refill_soon();
  for (Kind& kind : kinds_) kind.place->replace_groups();
}

void CellPool::discard_dead() {
  for (Kind& kind : kinds_) {
    const auto dead = std::ranges::partition(
        kind.ready, [](const auto& cell) { return !cell->sandbox().program_ended(); });
    // With the last reference to it, epoll forgets a descriptor.
    for (auto& cell : dead) discard(std::move(cell), counts_.replaced);
    kind.ready.erase(dead.begin(), dead.end());
  }
}

void CellPool::wait(std::unique_lock<std::mutex>& lock, TimePoint until) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(until - real_clock().now());
  const auto patience = std::clamp(left, milliseconds(0), kLongest);
  lock.unlock();
  std::array<epoll_event, 8> seen{};
  const int count = ::epoll_wait(events_.get(), seen.data(), static_cast<int>(seen.size()),
                                 static_cast<int>(patience.count()));
  // Everything is looked at again after this, so nothing that comes in between is missed.
  (void)has_fired(wake_.get());
  const bool refill = has_fired(refill_.get());
  lock.lock();
  if (refill) refill_set_ = false;
  // Asking is what tells: a second time there is nothing to be heard.
  for (int i = 0; i < count; ++i) {
    if (seen[static_cast<std::size_t>(i)].data.fd == mounts_.fd()) discard_all();
  }
}

}  // namespace cordon::linux_backend
