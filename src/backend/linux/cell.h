// A sandbox and everything that belongs to it: its processes, control group, ids and namespaces.
//
// A cell is made ready for any program of its kind: all isolation is in place and verified, and the
// program's process waits for a letter. It runs one program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/explain_observer.h"
#include "backend/linux/identity.h"
#include "backend/linux/letterbox.h"
#include "backend/linux/remains.h"
#include "backend/linux/sandbox.h"
#include "backend/linux/secret_parts.h"
#include "backend/linux/seen_on_host.h"
#include "backend/linux/start_sandbox.h"
#include "backend/linux/status_socket.h"
#include "backend/linux/verify.h"
#include "backend/linux/views.h"
#include "base/fd.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

class LinuxBackend;
struct Place;

// What only the run has that a cell is made for; with any of it, the cell fits no other.
struct CellExtras {
  const Request* pinned = nullptr;  // for the files of the plan's pins
  int terminal = -1;
  const SecretParts* secrets = nullptr;  // some of which are files
  bool nursery = false;                  // it makes programs (make_inside) in place of being one
};

class Cell {
 public:
  // `remains`: clean, of a run of the same kind. Errors: what keeps a sandbox from being made, with
  // the step; nothing is left then.
  [[nodiscard]] static Result<std::unique_ptr<Cell>> make(LinuxBackend& backend, Place& place,
                                                          const plan::SandboxPlan& plan,
                                                          const CgroupLimits& limits,
                                                          const CellExtras& extras = {},
                                                          Remains remains = {});
  // A program's process in the sandbox of `nest`, which has a nursery and outlives it; `group` is
  // its own. One at a time for each nest. Errors as for make().
  [[nodiscard]] static Result<std::unique_ptr<Cell>> make_inside(LinuxBackend& backend, Cell& nest,
                                                                 const plan::SandboxPlan& plan,
                                                                 std::unique_ptr<Cgroup> group,
                                                                 int terminal);
  // Ends what is inside, and waits for that: LinuxBackend::put_away() lets others do it.
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  // To be used later: what takes time then is done now.
  void prepare_to_wait(const plan::SandboxPlan& plan);
  // Whether it still waits, and the host still has what it shows. Of mounts it does not know.
  [[nodiscard]] bool fresh() const;
  [[nodiscard]] const std::string& cwd() const { return cwd_; }
  // Of the host's memory, while it waits.
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }

  // Delivers the letter, and returns when the program was executed. At most once.
  [[nodiscard]] std::expected<void, StartFailure> execute(ScriptBuilder& letter);

  // For a program that has executed and may run for long: lets go of what was needed only to come
  // so far, or to be quick at its end. A service with a thousand of them has no descriptors to
  // spare.
  void settle();

  // By which its pool knows it; 0: of none.
  [[nodiscard]] std::uint64_t kind() const { return kind_; }
  void set_kind(std::uint64_t kind) { kind_ = kind; }
  // Whether something of an earlier run is in it.
  [[nodiscard]] bool reused() const { return reused_; }
  // Ends what is inside, and leaves what another run of the same tenant could use.
  [[nodiscard]] Remains leave();

  // Whether its sandbox is another's, so that only its group ends with it.
  [[nodiscard]] bool inside() const { return inside_; }
  // Kills and reaps everything of the run.
  void end();
  // Once the program has ended: ends whatever it has left behind. An init that is alone is
  // left in peace until the cell ends, since to end a pid namespace takes the kernel some time.
  void end_leftovers();

  [[nodiscard]] Sandbox& sandbox() { return sandbox_; }
  [[nodiscard]] const Sandbox& sandbox() const { return sandbox_; }
  [[nodiscard]] Cgroup* group() const { return group_.get(); }  // null: none
  // Who gets the group when nobody is in it any more, on any thread.
  void leave_group_to(std::function<void(std::unique_ptr<Cgroup>)> heir) {
    leave_group_ = std::move(heir);
  }
  [[nodiscard]] Observer* observer() const { return observer_.get(); }  // null: nobody asked

 private:
  Cell(LinuxBackend& backend, StatusSocket status, Letterbox letterbox)
      : backend_(backend), status_(std::move(status)), letterbox_(std::move(letterbox)) {}
  [[nodiscard]] Result<void> set_up(Place& place, const plan::SandboxPlan& plan,
                                    const CgroupLimits& limits, const CellExtras& extras,
                                    Remains remains);
  // What the run has of its own, or of an earlier one.
  [[nodiscard]] Result<void> take_parts(Place& place, const plan::SandboxPlan& plan,
                                        const CgroupLimits& limits, Remains& remains);
  [[nodiscard]] Result<void> verify(Expected expected) const;
  [[nodiscard]] Result<void> observe(const plan::SandboxPlan& plan,
                                     const std::vector<OpenView>& views);
  [[nodiscard]] Error explain(const StartFailure& failure, const plan::SandboxPlan& plan,
                              const std::vector<OpenView>& views) const;

  [[nodiscard]] Result<void> set_up_inside(Cell& nest, const plan::SandboxPlan& plan, int terminal);
  // What was killed in its group is gone, but for `ours`; waits a moment for that.
  void wait_for_group(std::uint64_t ours) const;

  LinuxBackend& backend_;
  std::function<void(std::unique_ptr<Cgroup>)> leave_group_;  // empty: it is removed
  StatusSocket status_;
  Letterbox letterbox_;  // of a nest: how its nursery gets its scripts
  bool inside_ = false;
  ExpectedStatus status_inside_{};    // of a nest: what its nursery was verified to have, and …
  NamespaceIds namespaces_inside_{};  // … where it is
  std::unique_ptr<Cgroup> group_;
  std::unique_ptr<RunIdentity> identity_;
  // Namespaces, held so that the kernel need not free them while somebody waits.
  base::Fd network_;
  base::Fd mounts_;
  std::optional<NetworkTraces> traces_;  // of a tenant's network, before any program was in it
  bool reused_ = false;
  std::uint64_t kind_ = 0;
  std::string cwd_;
  std::vector<OpenView> shown_;  // until it waits; without descriptors
  SeenOnHost seen_;
  std::uint64_t memory_bytes_ = 0;
  std::unique_ptr<Observer> observer_;  // ends after the sandbox
  Sandbox sandbox_;
};

// Of its group until the program begins: there is a process more while it is set up.
[[nodiscard]] CgroupLimits limits_while_set_up(const plan::GroupLimits& limits);

// For a sandbox whose processes were killed for memory before the program began.
[[nodiscard]] Error too_little_memory(const plan::SandboxPlan& plan);

}  // namespace cordon::linux_backend
