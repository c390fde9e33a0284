// Work directories whose process is gone.
//
// Who uses a work directory holds an exclusive lock (flock) on it, which ends with the process,
// however that ends. Who makes one holds a shared lock on the directory of all of them until then,
// so that nobody takes a directory that is just being made for a leftover.
#pragma once

#include <string>

#include "base/fd.h"
#include "workdir/remove_tree.h"

namespace cordon::workdir {

// flock(), again if a signal came between. False: errno says why.
[[nodiscard]] bool lock(int fd, int operation);

// Removes the leftovers in the directory `parent`, called `path`, as far as the time allows; the
// rest is for the next one. Returns what could not be removed first, and why; empty: nothing.
[[nodiscard]] std::string sweep(int parent, const std::string& path, const Deadline& deadline);

// Removes the directory `name` of `parent`, held open as `directory`. Errors: as of
// empty_directory().
[[nodiscard]] Result<void> remove_directory(int parent, const std::string& name, int directory,
                                            const std::string& path, const Deadline& deadline);

}  // namespace cordon::workdir
