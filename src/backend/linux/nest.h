// A long-lived sandbox: an init that keeps its namespaces, and a nursery that makes the programs in
// it (spawner/nursery.h). Thread-safe.
//
// Every program inside, the main one too, is a child of this process, parked, verified and told
// what to run as any other is; it has a control group of its own below the sandbox's.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/linux/cell.h"
#include "backend/linux/linux_backend.h"
#include "backend/linux/plan_cache.h"
#include "cordon/request.h"

namespace cordon::linux_backend {

class Nest : public std::enable_shared_from_this<Nest> {
 public:
  // `request` is that of the main program. Errors: unsupported where programs in one sandbox cannot
  // be told apart (no control groups), and those of any sandbox.
  [[nodiscard]] static Result<std::shared_ptr<Nest>> make(std::shared_ptr<LinuxBackend> backend,
                                                          Request request);
  // Ends everything inside.
  ~Nest();
  Nest(const Nest&) = delete;
  Nest& operator=(const Nest&) = delete;

  // A process that waits for its letter, in a group of its own with these limits. Errors:
  // wrong_state once the sandbox has ended or its nursery is gone; those of any start.
  struct Hatched {
    std::unique_ptr<Cell> cell;
    bool ahead = false;  // it has waited for a while, in which others inside may have ended it
  };
  [[nodiscard]] Result<Hatched> hatch(const plan::SandboxPlan& plan, const CgroupLimits& limits,
                                      int terminal, bool may_be_ahead);
  // Adds what every program inside gets from the request of the main one.
  void furnish(Request& request) const;
  // The plan of a program inside. Errors: those of check_inside().
  [[nodiscard]] Result<SharedPlan> plan_for(const Request& request, const Limits& limits,
                                            bool is_main) const;

  // Kills everything inside, at once. Nothing can be made in it any more.
  void end();
  // The same, and waits until nothing is left of it: what is made of it must have ended.
  void close();
  // Why nothing can be made in it, although nobody has ended it; empty: it can.
  [[nodiscard]] std::string broken() const;

  [[nodiscard]] LinuxBackend& backend() { return *backend_; }
  [[nodiscard]] const LinuxBackend& backend() const { return *backend_; }

 private:
  Nest(std::shared_ptr<LinuxBackend> backend, Request request, Place& place)
      : backend_(std::move(backend)), request_(std::move(request)), place_(place) {}
  [[nodiscard]] Result<void> set_up();

  // The group of a program that is over, for another one. On any thread.
  void keep(std::unique_ptr<Cgroup> group);
  // One with these limits: kept, or new.
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make_group(const CgroupLimits& limits);

  // With one of the locks held.
  [[nodiscard]] std::optional<Error> refused() const;
  // With the lock for making.
  [[nodiscard]] Result<std::unique_ptr<Cell>> make(const plan::SandboxPlan& plan,
                                                   const CgroupLimits& limits, int terminal);
  // With the lock of the stock, as the next two. Null: there is none.
  [[nodiscard]] Result<std::unique_ptr<Cell>> take_ready(const CgroupLimits& limits);
  // Those that wait do not count for the limit of the sandbox.
  [[nodiscard]] Result<void> allow(std::size_t waiting);
  void refill();
  // On the keeper's thread, without the lock.
  void make_ready();

  const std::shared_ptr<LinuxBackend> backend_;
  Request request_;  // without secrets, once it is set up
  Place& place_;     // the backend's
  SharedPlan plan_;
  std::atomic<bool> ended_ = false;
  // To close it, all are needed; taken in this order.
  mutable std::mutex mutex_;  // for making
  std::mutex ending_;
  std::mutex stock_;                           // for what follows the next two
  std::unique_ptr<InnerGroups> groups_;        // of who makes
  std::unique_ptr<Cell> cell_;                 // null: closed
  std::optional<std::uint64_t> processes_;     // that the sandbox may have
  std::vector<std::unique_ptr<Cell>> ready_;   // made ahead
  std::vector<std::unique_ptr<Cgroup>> kept_;  // of programs that are over
  CgroupLimits usual_;                         // what was asked for last
  int asked_ = 0;                              // for others than the main program
  bool refilling_ = false;
};

}  // namespace cordon::linux_backend
