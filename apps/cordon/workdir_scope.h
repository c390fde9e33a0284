// A run's work directory in the command: made before the run, given to the program, collected from
// and removed after it. When none is asked for, all of this does nothing.
#pragma once

#include <optional>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/request.h"
#include "cordon/workdir.h"
#include "workdir_ask.h"

namespace cordon::app {

class WorkDirScope {
 public:
  // Makes it, and makes `request` run in it; on a backend that isolates it is granted. Whatever
  // happens next, it is removed at the end of this object. Error: nothing was made.
  [[nodiscard]] static Result<WorkDirScope> open(const WorkDirAsk& ask, Request& request,
                                                 const Manager& manager);

  // Collects, if the program `ran`, removes or keeps; tells on stderr what is worth telling. False:
  // not everything that was to be collected was.
  [[nodiscard]] bool finish(bool ran);

 private:
  WorkDirScope() = default;
  [[nodiscard]] bool collect();

  WorkDirAsk ask_;
  std::optional<WorkDir> directory_;
  base::Fd into_;
};

// Makes `request` what it would be, without making anything.
[[nodiscard]] Result<void> plan_workdir(const WorkDirAsk& ask, Request& request,
                                        const Manager& manager);

}  // namespace cordon::app
