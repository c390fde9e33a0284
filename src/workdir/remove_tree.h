// Removes what a hostile program may have left in a directory, and goes on changing.
#pragma once

#include <string>

#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::workdir {

struct Deadline {
  const Clock& clock;
  TimePoint at;
  [[nodiscard]] bool passed() const { return clock.now() >= at; }
};

// Empties the directory behind `top`, which is called `path` in messages. Never follows a link or
// enters another file system. Whatever the depth and size of the tree, it needs three descriptors,
// no recursion, and no path longer than one name: instead of going down, it moves each directory
// that is not empty up into `top`.
//
// Directories that keep their owner out are opened up. What cannot be removed (immutable, a mount
// point) does not stop the rest. Errors: timed_out; else the first thing that is left, and why. The
// time is looked at between system calls: one that hangs is not cut short.
[[nodiscard]] Result<void> empty_directory(int top, const std::string& path,
                                           const Deadline& deadline);

}  // namespace cordon::workdir
