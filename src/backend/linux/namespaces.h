// Namespaces and ids: steps of the set-up process that leave the host behind.
#pragma once

#include "backend/linux/script_builder.h"
#include "cordon/isolation.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

struct NamespaceFds {  // as sent; -1: none
  int user = -1;       // made beforehand, with its maps; -1: the process makes its own
  int network = -1;    // from the stock; -1: made by the process
};

// Enters a user namespace and takes on the program's ids in it, then all the others. The process
// keeps its capabilities, in the new user namespace only.
void enter_namespaces(ScriptBuilder& script, const plan::SandboxPlan& plan,
                      const NamespaceFds& fds);

}  // namespace cordon::linux_backend
