// The part of cell_pool.h that its thread does.
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
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
    lock.unlock();
    ended.clear();
    const TimePoint look = tend();
    lock.lock();
    discard_dead();
    if (!discarded_.empty()) continue;
    if (!make_one(lock)) wait(lock, look);
  }
  std::vector<std::unique_ptr<Cell>> all = std::move(discarded_);
  for (Kind& kind : kinds_) std::ranges::move(kind.ready, std::back_inserter(all));
  kinds_.clear();
  lock.unlock();
}

CellPool::Kind* CellPool::most_wanting() {
  Kind* most = nullptr;
  for (Kind& kind : kinds_) {
    if (kind.ready.size() >= kind.wanted) continue;
    if (most == nullptr || kind.ready.size() < most->ready.size()) most = &kind;
  }
  if (most == nullptr || memory() >= options_.memory_bytes) return nullptr;
  if (ready() < options_.size) return most;
  if (!most->ready.empty()) return nullptr;
  // The one that was not asked for the longest gives way.
  for (auto kind = kinds_.rbegin(); kind != kinds_.rend(); ++kind) {
    if (&*kind == most || kind->ready.empty()) continue;
    shrink(*kind, kind->ready.size() - 1);
    return most;
  }
  return nullptr;
}

bool CellPool::make_one(std::unique_lock<std::mutex>& lock) {
  Kind* kind = most_wanting();
  if (kind == nullptr) return false;
  const bool scarce = kind->ready.size() * 2 < kind->wanted;
  if (!scarce && clock_.now() - taken_ < kQuiet) {
    refill_soon();
    return false;
  }
  Place& place = *kind->place;
  const plan::SandboxPlan plan = kind->plan;
  lock.unlock();
  // Its other limits are set when it is taken.
  auto made = Cell::make(backend_, place, plan, {.cpu_millicores = plan.groups.cpu_millicores});
  lock.lock();
  if (!made) {
    trouble_ = std::move(made.error());
    changed_.notify_all();
    wait(lock, real_clock().now() + kTroublePause);
    trouble_.reset();
    return true;
  }
  kind = find(place, plan);
  if (kind == nullptr || closing_) {
    discard(std::move(*made), counts_.given_up);
    return true;
  }
  ++counts_.made;
  put(*kind, std::move(*made));
  changed_.notify_all();
  return true;
}

void CellPool::discard_dead() {
  for (Kind& kind : kinds_) {
    for (std::size_t left = kind.ready.size(); left > 0; --left) {
      auto cell = pop(kind);
      pollfd end{.fd = cell->sandbox().program_fd(), .events = POLLIN, .revents = 0};
      if (::poll(&end, 1, 0) != 0) {
        discard(std::move(cell), counts_.replaced);
        continue;
      }
      put(kind, std::move(cell));
    }
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
    if (seen[static_cast<std::size_t>(i)].data.fd == mounts_.get()) discard_all();
  }
}

}  // namespace cordon::linux_backend
