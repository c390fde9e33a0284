// A command that goes on in the background while whoever typed it gets the prompt back.
#pragma once

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::posix {

// After fork_to_background() there are two of us.
struct Forked {
  bool background = false;  // the one that goes on, in a session of its own
  base::Fd pipe;            // it writes here how it went; the other one reads that
};

// Splits this process, which must have no other thread. The one in the background has no terminal,
// "/" as its directory and still the caller's streams: let go of them by release_streams() once
// what had to be said is said. Errors: resource_exhausted, system.
[[nodiscard]] Result<Forked> fork_to_background();

// Makes stdin, stdout and stderr /dev/null.
[[nodiscard]] Result<void> release_streams();

}  // namespace cordon::posix
