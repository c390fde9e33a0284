// Puts the steps of all mechanisms together: the whole set-up of one sandbox, in its order, up to
// where its program waits to be told what to run (letter.h).
#pragma once

#include <optional>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/identity.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"
#include "backend/linux/secret_parts.h"
#include "backend/linux/verify.h"
#include "backend/linux/views.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// Everything a launch has gathered; borrowed until the script was sent.
struct SandboxParts {
  const plan::SandboxPlan& plan;
  const std::vector<OpenView>& views;
  const Cgroup* group = nullptr;          // null: none
  const RunIdentity* identity = nullptr;  // null: the set-up process makes its own user namespace
  int root = -1;       // a shared root with the prepared views (root_template.h); -1: none
  int mount_map = -1;  // for idmapped grants; -1: none
  int network = -1;    // a namespace from the stock; -1: none
  int status = -1;
  int letter = -1;
  int terminal = -1;                     // the program's; -1: none
  const SecretParts* secrets = nullptr;  // of which some are files; null: none
  const std::vector<BpfProgram>& filters;
  std::optional<unsigned> listener_flags{};  // the (only) filter asks the supervisor
  bool nursery = false;                      // in place of a program
};

void write_script(ScriptBuilder& script, const SandboxParts& parts);

// What the kernel must say of the parked program.
[[nodiscard]] Expected expectations(const SandboxParts& parts, const User& caller);

}  // namespace cordon::linux_backend
