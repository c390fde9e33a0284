// The two processes that stay: steps of the sandbox's init, and of the program until it waits for
// its letter.
#pragma once

#include <optional>
#include <vector>

#include "backend/linux/mounts.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"
#include "backend/linux/views.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// Pid 1: nobody but it keeps the namespace alive. It sleeps, and the kernel reaps for it.
// `root_changed` is an eventfd by which the program says that both have their new root.
void add_init(ScriptBuilder& script, MountSteps& mounts, Register root_changed);

struct ProgramSteps {
  const plan::SandboxPlan& plan;
  const std::vector<OpenView>& views;
  MountSteps& mounts;
  int terminal = -1;                     // to be its controlling one, as sent; -1: none
  std::optional<Register> executable{};  // instead of a path
  Register umask;                        // the caller's
  Register root_changed;                 // as for init
  const std::vector<BpfProgram>& filters;
  std::optional<unsigned> listener_flags;  // the (only) filter asks the supervisor
};

// Pid 2: everything is taken from it, then it parks until its letter (letter.h) comes.
void add_program(ScriptBuilder& script, const ProgramSteps& steps);

}  // namespace cordon::linux_backend
