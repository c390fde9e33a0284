// Cells that are ready before they are asked for. pool.h says what that means to the user.
#pragma once

#include <condition_variable>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backend/linux/cell.h"
#include "backend/linux/mount_watch.h"
#include "backend/linux/plan_cache.h"
#include "backend/linux/remains.h"
#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/pool.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// Why no cell that is made ahead can serve this; empty: one can.
[[nodiscard]] std::string unfit_for_pool(const Request& request, const plan::SandboxPlan& plan);

// Thread-safe. Its own thread makes cells, and ends those that are of no use any more.
class CellPool {
 public:
  // Errors: resource_exhausted, system.
  [[nodiscard]] static Result<std::unique_ptr<CellPool>> start(LinuxBackend& backend,
                                                               const PoolOptions& options,
                                                               Clock& clock);
  ~CellPool();
  CellPool(const CellPool&) = delete;
  CellPool& operator=(const CellPool&) = delete;

  // A cell that fits; null: none is ready. What is asked for a second time is kept ready from then
  // on, and more of it the more often none was.
  [[nodiscard]] std::unique_ptr<Cell> take(Place& place, const SharedPlan& plan);
  // Whether there is one to take.
  [[nodiscard]] bool has(const Place& place, const SharedPlan& plan) const;
  // A request was launched without.
  void count_cold();
  [[nodiscard]] Result<void> warm(Place& place, const SharedPlan& plan, std::size_t count);
  [[nodiscard]] PoolStats stats() const;
  struct Loan {
    std::uint64_t kind = 0;
    Remains remains{};  // not clean
  };
  // For a run of a tenant for which no cell was ready: what another has left, if there is some.
  [[nodiscard]] Loan lend(Place& place, const SharedPlan& plan);
  // A run of a tenant is over that had a cell of this kind; what it leaves may serve another.
  // Null: nothing is left.
  void leave(std::uint64_t kind, std::unique_ptr<Cell> cell);
  // Gives up what was not needed for long, by the pool's clock. Returns when to look again. The
  // pool's thread does it by itself.
  TimePoint tend();
  // Ends it when there is time for that: a sandbox that has run its program.
  void put_away(std::unique_ptr<Cell> cell);
  // Nothing is taken any more, and everything ends. Twice is once.
  void end();

 private:
  struct Kind {
    std::uint64_t id = 0;
    Place* place = nullptr;
    SharedPlan plan;  // of the first request like this
    std::deque<std::unique_ptr<Cell>> ready{};
    std::deque<Remains> remains{};  // of a tenant's runs, to be cleaned
    std::size_t out = 0;            // cells of a tenant that will leave some
    std::size_t wanted = 0;         // so many are kept ready
    std::size_t fewest = 0;         // that were ready in this period
    TimePoint asked{};              // the last time
    TimePoint period{};             // its beginning
  };

  // A program that has just been started has the machine first, unless cells get scarce, or those
  // that were used too many.
  static constexpr Duration kQuiet = std::chrono::milliseconds(5);

  CellPool(LinuxBackend& backend, const PoolOptions& options, Clock& clock)
      : backend_(backend), options_(options), clock_(clock) {}

  struct Left {
    std::uint64_t kind = 0;
    std::unique_ptr<Cell> cell{};
    Remains remains{};
  };

  // --- of the thread ---
  void work();
  static void end_cells(std::vector<Left>& left);
  // Whether requests, for which enough is ready, are better served by leaving these for later.
  [[nodiscard]] bool can_wait(const std::vector<Left>& left) const;
  [[nodiscard]] bool make_one(std::unique_lock<std::mutex>& lock);
  void wait(std::unique_lock<std::mutex>& lock, TimePoint until);

  // --- under the lock ---
  [[nodiscard]] Kind* find(const Place& place, const SharedPlan& plan);
  // The same for somebody who wants one of them now.
  [[nodiscard]] Kind* asked_for(const Place& place, const SharedPlan& plan);
  Kind& remember(Place& place, const SharedPlan& plan);
  // Fewer are wanted of other kinds, those first that nobody has asked for the longest, until what
  // is wanted of all fits.
  void make_room_for(const Kind& kind);
  [[nodiscard]] Result<void> wait_until_ready(std::unique_lock<std::mutex>& lock, Place& place,
                                              const SharedPlan& plan, std::size_t count);
  [[nodiscard]] Kind* most_wanting();
  [[nodiscard]] std::size_t ready() const;
  [[nodiscard]] std::size_t remains() const;
  [[nodiscard]] std::uint64_t memory() const;
  [[nodiscard]] bool memory_used_up() const { return memory() >= options_.memory_bytes; }
  void put(Kind& kind, std::unique_ptr<Cell> cell);
  [[nodiscard]] std::unique_ptr<Cell> pop(Kind& kind);
  void discard(std::unique_ptr<Cell> cell, std::uint64_t& count);
  void shrink(Kind& kind, std::size_t keep);
  void keep(std::vector<Left> left);
  void keep_fewer(Kind& kind, std::size_t most);
  [[nodiscard]] static Remains take_remains(Kind& kind);
  void throw_away(Remains remains);
  void replace_groups();
  void discard_dead();
  void discard_all();
  void discard_if_mounts_changed();
  [[nodiscard]] bool busy() const { return clock_.now() - taken_ < kQuiet; }
  void refill_soon();
  void wake() const;

  LinuxBackend& backend_;
  const PoolOptions options_;
  Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Kind> kinds_;                         // the last one that was asked for comes first
  std::vector<std::unique_ptr<Cell>> discarded_;  // must go
  std::vector<std::unique_ptr<Cell>> spent_;      // have run their programs: no hurry
  std::uint64_t last_kind_ = 0;
  PoolStats counts_;
  std::optional<Error> trouble_;  // with the last one that was to be made
  TimePoint taken_{};             // the last time
  std::size_t warming_ = 0;       // that callers of warm() wait for
  bool refill_set_ = false;
  bool closing_ = false;
  std::vector<Left> left_;
  base::Fd events_;  // epoll: the following, and the end of a cell that waits
  base::Fd wake_;    // eventfd
  base::Fd refill_;  // timer
  // mountinfo, which tells each who has it open of changes, once: the thread, so that nothing keeps
  // a file system busy that is to go, and whoever takes a cell, who must not miss one.
  MountWatch mounts_;
  MountWatch mounts_of_takers_;
  std::thread thread_;
};

}  // namespace cordon::linux_backend
