// What a process can still do by right: steps that take it away for good.
#pragma once

#include <span>
#include <vector>

#include "backend/linux/script_builder.h"
#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {

// What no process of the sandbox will ever gain: an empty bounding set, no ambient capabilities, no
// power in uid 0, no_new_privs. The process keeps the capabilities it has, for the set-up.
void forbid_gaining(ScriptBuilder& script);

// The remaining three sets empty.
void drop_capabilities(ScriptBuilder& script);

// Last of all: what is set up afterwards is subject to it.
void install_filters(ScriptBuilder& script, const std::vector<BpfProgram>& filters);

// The same with a filter that asks the supervisor, which is sent the listener over kStatusFd
// (report `listening`). The process keeps no descriptor of it. `flags` are those of the seccomp
// call.
void install_listening_filter(ScriptBuilder& script, const BpfProgram& filter, unsigned flags);

// The sandbox's init: may let go of memory, sleep and end, nothing else.
[[nodiscard]] BpfProgram init_filter();

}  // namespace cordon::linux_backend
