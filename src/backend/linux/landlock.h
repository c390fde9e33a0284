// Landlock: a second fence around the file system, and the first around TCP and signals where the
// network or pid namespace is shared. Steps of the program's process.
#pragma once

#include <vector>

#include "backend/linux/script_builder.h"
#include "backend/linux/views.h"
#include "cordon/isolation.h"

namespace cordon::linux_backend {

// Everything may be read and executed that is visible at all; written only what is writable.
// Needs no_new_privs, and the root in place. Nothing if `abi` is 0.
void restrict_by_landlock(ScriptBuilder& script, int abi, const std::vector<OpenView>& views,
                          Network network);

}  // namespace cordon::linux_backend
