// What a process can still do by right: steps that take it away for good.
#pragma once

#include <span>
#include <vector>

#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {

// All five capability sets empty, and no_new_privs.
void drop_capabilities(ScriptBuilder& script);

// Last of all: what is set up afterwards is subject to it.
void install_filters(ScriptBuilder& script, const std::vector<BpfProgram>& filters);

// The sandbox's init: may let go of memory, sleep and end, nothing else.
[[nodiscard]] BpfProgram init_filter();

}  // namespace cordon::linux_backend
