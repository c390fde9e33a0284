// A sandbox and everything that belongs to it: its processes, control group, ids and namespaces.
//
// A cell is made ready for any program of its kind: all isolation is in place and verified, and the
// program's process waits for a letter. It runs one program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/explain_observer.h"
#include "backend/linux/identity.h"
#include "backend/linux/letter.h"
#include "backend/linux/letterbox.h"
#include "backend/linux/sandbox.h"
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
};

class Cell {
 public:
  // Errors: what keeps a sandbox from being made, with the step; nothing is left then.
  [[nodiscard]] static Result<std::unique_ptr<Cell>> make(LinuxBackend& backend, Place& place,
                                                          const plan::SandboxPlan& plan,
                                                          const CgroupLimits& limits,
                                                          const CellExtras& extras = {});
  // Ends what is inside.
  ~Cell();
  Cell(const Cell&) = delete;
  Cell& operator=(const Cell&) = delete;

  // Whether it still waits, and the host still has what it shows.
  [[nodiscard]] bool fresh() const;
  [[nodiscard]] const std::string& cwd() const { return cwd_; }
  // Of the host's memory, while it waits.
  [[nodiscard]] std::uint64_t memory_bytes() const;

  // Delivers the letter, and returns when the program was executed. At most once.
  [[nodiscard]] std::expected<void, StartFailure> execute(ScriptBuilder& letter);

  [[nodiscard]] Sandbox& sandbox() { return sandbox_; }
  [[nodiscard]] const Sandbox& sandbox() const { return sandbox_; }
  [[nodiscard]] Cgroup* group() const { return group_.get(); }          // null: none
  [[nodiscard]] Observer* observer() const { return observer_.get(); }  // null: nobody asked

 private:
  Cell(LinuxBackend& backend, StatusSocket status, Letterbox letterbox)
      : backend_(backend), status_(std::move(status)), letterbox_(std::move(letterbox)) {}
  [[nodiscard]] Result<void> set_up(Place& place, const plan::SandboxPlan& plan,
                                    const CgroupLimits& limits, const CellExtras& extras);
  [[nodiscard]] Result<void> verify(Expected expected) const;
  [[nodiscard]] Result<void> observe(const plan::SandboxPlan& plan,
                                     const std::vector<OpenView>& views);
  [[nodiscard]] Error explain(const StartFailure& failure, const plan::SandboxPlan& plan,
                              const std::vector<OpenView>& views) const;

  LinuxBackend& backend_;
  StatusSocket status_;
  Letterbox letterbox_;
  std::unique_ptr<Cgroup> group_;
  std::unique_ptr<RunIdentity> identity_;
  // Namespaces, held so that the kernel need not free them while somebody waits.
  base::Fd network_;
  base::Fd mounts_;
  std::string cwd_;
  std::vector<OpenView> shown_;         // as it was opened, without descriptors
  std::vector<plan::View> absent_;      // optional, and not on the host
  std::unique_ptr<Observer> observer_;  // ends after the sandbox
  Sandbox sandbox_;
};

// For a sandbox whose processes were killed for memory before the program began.
[[nodiscard]] Error too_little_memory(const plan::SandboxPlan& plan);

}  // namespace cordon::linux_backend
