// The two processes that stay: steps of the sandbox's init, and of the program up to its exec.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/linux/mounts.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"
#include "backend/linux/secret_parts.h"
#include "backend/linux/views.h"
#include "backend/posix/child_side.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// Pid 1: nobody but it keeps the namespace alive. It sleeps, and the kernel reaps for it.
// `root_changed` is an eventfd by which the program says that both have their new root.
void add_init(ScriptBuilder& script, MountSteps& mounts, Register root_changed);

struct ProgramSteps {
  const plan::SandboxPlan& plan;
  const std::vector<OpenView>& views;
  MountSteps& mounts;
  const SecretSteps& secrets;
  int stdio[3];  // as sent
  bool terminal = false;
  std::optional<Register> executable{};  // instead of `paths`
  Register umask;                        // the caller's
  Register root_changed;                 // as for init
  std::vector<posix::RlimitSetting> rlimits;
  const std::vector<BpfProgram>& filters;
  std::optional<unsigned> listener_flags;  // the (only) filter asks the supervisor
  std::vector<std::string> paths;          // to be tried in this order
  std::vector<std::string> argv;
  std::vector<std::string> environment;
};

// Pid 2: everything is taken from it, then it parks one step before exec.
void add_program(ScriptBuilder& script, const ProgramSteps& steps);

}  // namespace cordon::linux_backend
