// What is in a directory that is to be a program's root (Request::root).
//
// The new root is a fresh tmpfs, as always, and what the directory has at its top is mounted or, if
// it is a link, made there: so the sandbox's own /proc, /dev and /tmp are never the directory's,
// whatever it has in their places, and nothing is ever written to it. Where something is to be
// mounted at a place that the directory does not have, the directory around that place is shown in
// parts, so that the place can be made beside them.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

inline constexpr std::size_t kMostRootEntries = 200;

// `request` is with_real_paths(): its root has no links in it. Devices, sockets and pipes at the
// top are left out. Errors, of stage "root": not_found, not_permitted, invalid_argument (no
// directory; a link in the root is in the way of a grant; there is nothing at `cwd`),
// resource_exhausted (too many parts).
[[nodiscard]] Result<plan::RootDirectory> list_root(const Request& request);

// The file that a program in the root finds at `inside`, which is resolved as it would be there: no
// link leads out. Empty: none, and errno says why.
[[nodiscard]] base::Fd open_in_root(const std::string& root, const std::string& inside);

}  // namespace cordon::linux_backend
