// Where the paths of a request really lead.
//
// A plan judges places by their names: /etc is never writable, /proc never shown. A symbolic link,
// which anybody may have put into a directory that is granted, must not be another name for them.
#pragma once

#include "cordon/request.h"

namespace cordon::linux_backend {

// With the sources of grants, and the working directory on the host, as the kernel names them. Each
// grant still appears inside under the name it was asked for. What cannot be opened, and what leads
// through a magic link (/proc/self/root), stays as it is: opening it for the sandbox then fails.
[[nodiscard]] Request with_real_paths(Request request);

}  // namespace cordon::linux_backend
