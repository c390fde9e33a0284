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

struct ProgramSteps {
  const plan::SandboxPlan& plan;
  const std::vector<OpenView>& views;
  MountSteps& mounts;
  std::vector<int> groups{};             // `tasks` that each of the two joins, as sent
  int terminal = -1;                     // to be its controlling one, as sent; -1: none
  std::optional<Register> executable{};  // instead of a path
  Register umask;                        // the caller's
  Register root_changed;  // an eventfd by which the program says that both have their new root
  const std::vector<BpfProgram>& filters;
  std::optional<unsigned> listener_flags;  // the (only) filter asks the supervisor
  bool nursery = false;                    // it is to make programs, not to be one
};

// Pid 1: nobody but it keeps the namespace alive. It sleeps, and the kernel reaps for it.
void add_init(ScriptBuilder& script, const ProgramSteps& steps);

// Pid 2: everything is taken from it, then it parks until its letter (letter.h) comes.
void add_program(ScriptBuilder& script, const ProgramSteps& steps);

// A program that a nursery makes: has all of that from it, but for …
struct HatchedSteps {
  std::vector<int> groups{};  // what it joins, as sent
  int terminal = -1;          // to be its controlling one, as sent; -1: none
  const std::vector<BpfProgram>& filters;
};
void add_hatched(ScriptBuilder& script, const HatchedSteps& steps);

}  // namespace cordon::linux_backend
