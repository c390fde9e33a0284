// The parts of the host that a sandbox gets to see, opened: what was looked at is what is mounted.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

struct OpenView {
  plan::View view;
  base::Fd source;         // bind and device: O_PATH
  bool directory = false;  // bind: it is one
  dev_t device = 0;
  ino_t inode = 0;
  bool executed = false;  // a pin: the program itself, to be executed as what is mounted here
  bool prepared = false;  // already part of the root (root_template.h): nothing to open or mount
};

// Opens every source. Optional ones that are not there are left out; an optional one that is a
// symbolic link becomes a View::Kind::symlink. A grant's source has been resolved before
// (real_paths.h): a symbolic link in it is an error. Errors name the path and the errno.
[[nodiscard]] Result<std::vector<OpenView>> open_views(const std::vector<plan::View>& views);

// Adds the files of `pins`, from the descriptors of the request's: the last of all to be mounted.
// Error: one that is no regular file (any more).
[[nodiscard]] Result<void> add_pins(std::vector<OpenView>& views,
                                    const std::vector<plan::View>& pins, const Request& request);

// Whether a symbolic link on the host is one inside, too, and is not followed.
[[nodiscard]] inline bool shown_as_link(const plan::View& view) {
  return view.optional && !view.follow;
}

// The same without its descriptor: enough to compare it with the host later.
[[nodiscard]] OpenView without_source(const OpenView& open);
// Whether the host shows the same file there as when it was opened.
[[nodiscard]] bool same_on_host(const OpenView& open);
// Those of `asked` that were left out when they were opened …
[[nodiscard]] std::vector<plan::View> left_out(const std::vector<plan::View>& asked,
                                               const std::vector<OpenView>& opened);
// … and whether the host still has no such file.
[[nodiscard]] bool still_absent(const plan::View& view);

// For a grant to write to `source`, one of `views`, whose file system cannot make the caller's
// files appear as the program's: says so, with its name.
[[nodiscard]] Error cannot_map_ids(const std::vector<OpenView>& views, const std::string& source,
                                   int os_error);

}  // namespace cordon::linux_backend
