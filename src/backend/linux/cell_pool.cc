#include "backend/linux/cell_pool.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "backend/linux/linux_backend.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

// So many kinds are remembered. With a work directory of its own, each run is one.
constexpr std::size_t kMostKinds = 32;
// A limit that is too small to set a sandbox up in must fail as it does without a pool.
constexpr std::uint64_t kLeastMemory = std::uint64_t{16} << 20;
constexpr int kPeriods = 8;  // in PoolOptions::idle

bool watch(int events, int fd, std::uint32_t what = EPOLLIN) {
  epoll_event wanted{.events = what, .data = {.fd = fd}};
  return ::epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) == 0;
}

bool same_kind(const SharedPlan& one, const SharedPlan& other) {
  if (one == other) return true;
  const plan::SandboxPlan& a = *one;
  const plan::SandboxPlan& b = *other;
  return a.reuse == b.reuse && a.root == b.root && a.identity == b.identity &&
         a.network == b.network && a.unix_sockets == b.unix_sockets &&
         a.landlock_abi == b.landlock_abi &&
         a.groups.memory_bytes.has_value() == b.groups.memory_bytes.has_value() &&
         a.groups.processes.has_value() == b.groups.processes.has_value() &&
         a.groups.cpu_millicores.has_value() == b.groups.cpu_millicores.has_value();
}

}  // namespace

std::string unfit_for_pool(const Request& request, const plan::SandboxPlan& plan) {
  if (request.terminal) return "a terminal is part of the sandbox";
  if (!plan.rootfs.empty()) return "its root directory is part of the sandbox";
  if (plan.explain) return "what is refused is to be explained";
  if (!plan.pins.empty()) return "a checked file is part of the sandbox";
  if (has_secret_files(request)) return "a secret's file is part of the sandbox";
  if (plan.groups.memory_bytes.value_or(kLeastMemory) < kLeastMemory) {
    return "the memory limit is hardly enough for the set-up";
  }
  return {};
}

Result<std::unique_ptr<CellPool>> CellPool::start(LinuxBackend& backend, const PoolOptions& options,
                                                  Clock& clock) {
  std::unique_ptr<CellPool> pool(new CellPool(backend, options, clock));
  pool->events_ = base::move_up(base::Fd(::epoll_create1(EPOLL_CLOEXEC)));
  pool->wake_ = base::move_up(base::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  pool->refill_ =
      base::move_up(base::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
  const int events = pool->events_.get();
  if (!pool->events_ || !pool->wake_ || !pool->refill_ || !pool->mounts_ ||
      !pool->mounts_of_takers_ || !watch(events, pool->wake_.get()) ||
      !watch(events, pool->refill_.get()) || !watch(events, pool->mounts_.fd(), EPOLLPRI)) {
    return base::fail_os("pool", errno, "making a pool of sandboxes");
  }
  try {
    pool->thread_ = std::thread([raw = pool.get()] { raw->work(); });
  } catch (const std::system_error& error) {
    return base::fail_os("pool", error.code().value(), "starting the thread of a pool");
  }
  return pool;
}

CellPool::~CellPool() { end(); }

void CellPool::end() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
    wake();
  }
  if (thread_.joinable()) thread_.join();
}

void CellPool::put_away(std::unique_ptr<Cell> cell) {
  const std::lock_guard lock(mutex_);
  // Here and now, if the thread may have looked for the last time, or cannot keep up.
  if (closing_ || spent_.size() >= 2 * options_.size) return;
  spent_.push_back(std::move(cell));
  refill_soon();
}

void CellPool::wake() const {
  const std::uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

std::unique_ptr<Cell> CellPool::take(Place& place, const SharedPlan& plan) {
  std::unique_lock lock(mutex_);
  if (closing_) return nullptr;
  discard_if_mounts_changed();
  Kind* kind = asked_for(place, plan);
  if (kind == nullptr) {
    remember(place, plan);
    return nullptr;
  }
  taken_ = kind->asked;
  while (kind != nullptr && !kind->ready.empty()) {
    auto cell = pop(*kind);
    kind->fewest = std::min(kind->fewest, kind->ready.size());
    refill_soon();
    lock.unlock();
    const bool fresh = cell->fresh();
    lock.lock();
    kind = find(place, plan);  // meanwhile it may have been forgotten for others
    if (fresh) {
      ++counts_.warm;
      if (plan->reuse && kind != nullptr) ++kind->out;
      return cell;
    }
    discard(std::move(cell), counts_.replaced);
  }
  if (kind == nullptr) return nullptr;
  kind->fewest = 0;
  kind->wanted = std::clamp<std::size_t>(kind->wanted * 2, 1, options_.size);
  refill_soon();
  return nullptr;
}

bool CellPool::has(const Place& place, const SharedPlan& plan) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(kinds_, [&](const Kind& kind) {
    return kind.place == &place && !kind.ready.empty() && same_kind(kind.plan, plan);
  });
}

void CellPool::count_cold() {
  const std::lock_guard lock(mutex_);
  ++counts_.cold;
}

Result<void> CellPool::warm(Place& place, const SharedPlan& plan, std::size_t count) {
  if (count > options_.size) {
    return base::fail(ErrorCode::resource_exhausted, "pool",
                      "a pool of " + std::to_string(options_.size) + " sandboxes cannot keep " +
                          std::to_string(count) + " ready: make it larger, or ask for fewer");
  }
  std::unique_lock lock(mutex_);
  if (warming_ + count > options_.size) {
    return base::fail(ErrorCode::resource_exhausted, "pool",
                      std::to_string(warming_) +
                          " sandboxes are being made ready for others, and " +
                          std::to_string(count) + " more are too many for a pool of " +
                          std::to_string(options_.size) +
                          ": make it larger, or ask for them one after the other");
  }
  warming_ += count;
  auto made = wait_until_ready(lock, place, plan, count);
  warming_ -= count;
  return made;
}

Result<void> CellPool::wait_until_ready(std::unique_lock<std::mutex>& lock, Place& place,
                                        const SharedPlan& plan, std::size_t count) {
  for (;;) {
    Kind* kind = asked_for(place, plan);
    if (kind == nullptr) kind = &remember(place, plan);
    kind->wanted = std::max(kind->wanted, count);
    make_room_for(*kind);
    if (kind->ready.size() >= count) return {};
    if (closing_) return base::fail(ErrorCode::wrong_state, "pool", "the pool is being ended");
    if (trouble_) return std::unexpected(*trouble_);
    if (memory_used_up()) {
      return base::fail(ErrorCode::resource_exhausted, "pool",
                        "the sandboxes that are ready take " + std::to_string(memory()) +
                            " bytes of the " + std::to_string(options_.memory_bytes) +
                            " that a pool may: raise memory_bytes, or ask for fewer");
    }
    wake();
    changed_.wait(lock);
  }
}

PoolStats CellPool::stats() const {
  const std::lock_guard lock(mutex_);
  PoolStats all = counts_;
  all.ready = ready();
  all.left = remains();
  all.memory_bytes = memory();
  all.kinds = static_cast<std::size_t>(
      std::ranges::count_if(kinds_, [](const Kind& kind) { return kind.wanted > 0; }));
  return all;
}

CellPool::Kind* CellPool::find(const Place& place, const SharedPlan& plan) {
  const auto found = std::ranges::find_if(
      kinds_, [&](const Kind& kind) { return kind.place == &place && same_kind(kind.plan, plan); });
  return found == kinds_.end() ? nullptr : &*found;
}

CellPool::Kind* CellPool::asked_for(const Place& place, const SharedPlan& plan) {
  const auto found = std::ranges::find(kinds_, find(place, plan), [](Kind& kind) { return &kind; });
  if (found == kinds_.end()) return nullptr;
  kinds_.splice(kinds_.begin(), kinds_, found);
  found->asked = clock_.now();
  return &*found;
}

void CellPool::make_room_for(const Kind& kind) {
  std::size_t wanted = 0;
  for (const Kind& each : kinds_) wanted += each.wanted;
  for (auto other = kinds_.rbegin(); other != kinds_.rend() && wanted > options_.size; ++other) {
    if (&*other == &kind) continue;
    const std::size_t fewer = std::min(other->wanted, wanted - options_.size);
    other->wanted -= fewer;
    wanted -= fewer;
    shrink(*other, other->wanted);
  }
}

CellPool::Kind& CellPool::remember(Place& place, const SharedPlan& plan) {
  if (kinds_.size() >= kMostKinds) {
    shrink(kinds_.back(), 0);
    kinds_.pop_back();
  }
  const TimePoint now = clock_.now();
  kinds_.push_front(
      {.id = ++last_kind_, .place = &place, .plan = plan, .asked = now, .period = now});
  return kinds_.front();
}

std::size_t CellPool::ready() const {
  std::size_t sum = 0;
  for (const Kind& kind : kinds_) sum += kind.ready.size();
  return sum;
}

std::uint64_t CellPool::memory() const {
  std::uint64_t sum = 0;
  for (const Kind& kind : kinds_) {
    for (const auto& cell : kind.ready) sum += cell->memory_bytes();
    for (const Remains& left : kind.remains) sum += left.memory_bytes();
  }
  return sum;
}

void CellPool::put(Kind& kind, std::unique_ptr<Cell> cell) {
  (void)watch(events_.get(), cell->sandbox().program_fd());
  cell->set_kind(kind.id);
  kind.ready.push_back(std::move(cell));
}

std::unique_ptr<Cell> CellPool::pop(Kind& kind) {
  auto cell = std::move(kind.ready.front());
  kind.ready.pop_front();
  // It may end now without anybody being woken for it.
  (void)::epoll_ctl(events_.get(), EPOLL_CTL_DEL, cell->sandbox().program_fd(), nullptr);
  return cell;
}

void CellPool::discard(std::unique_ptr<Cell> cell, std::uint64_t& count) {
  ++count;
  discarded_.push_back(std::move(cell));
}

void CellPool::shrink(Kind& kind, std::size_t keep) {
  while (kind.ready.size() > keep) discard(pop(kind), counts_.given_up);
  keep_fewer(kind, keep);
}

void CellPool::discard_if_mounts_changed() {
  if (mounts_of_takers_.changed()) discard_all();
}

void CellPool::discard_all() {
  for (Kind& kind : kinds_) {
    while (!kind.ready.empty()) discard(pop(kind), counts_.replaced);
  }
}

void CellPool::refill_soon() {
  if (std::exchange(refill_set_, true)) return;
  const itimerspec when{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = kQuiet.count()}};
  (void)::timerfd_settime(refill_.get(), 0, &when, nullptr);
}

TimePoint CellPool::tend() {
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.now();
  TimePoint next = TimePoint::max();
  for (Kind& kind : kinds_) {
    if (kind.wanted == 0) continue;
    if (now - kind.asked >= options_.idle) {
      shrink(kind, 0);
      kind.wanted = 0;
      continue;
    }
    if (now - kind.period >= options_.idle / kPeriods) {
      // Those that were never needed in it: half of them.
      kind.wanted = std::max<std::size_t>(1, kind.wanted - std::min(kind.wanted, kind.fewest / 2));
      shrink(kind, kind.wanted);
      kind.period = now;
      kind.fewest = kind.ready.size();
    }
    next = std::min({next, kind.asked + options_.idle, kind.period + options_.idle / kPeriods});
  }
  return next;
}

}  // namespace cordon::linux_backend
