// A sandboxed program as its observer sees it: what its system calls name in its memory, and what
// is there inside. Looks only; what it finds may be another thing a moment later.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "backend/linux/explain_judge.h"
#include "backend/linux/seccomp_observed.h"
#include "base/fd.h"

namespace cordon::linux_backend {

class ObservedProgram {
 public:
  // `root`: the sandbox's, O_PATH.
  explicit ObservedProgram(base::Fd root) : root_(std::move(root)) {}

  // By thread `task`, which waits in that call. Nothing: what it names cannot be read, or is no
  // file (an empty path).
  [[nodiscard]] std::optional<PathAttempt> attempt(pid_t task, const NamedPath& named) const;
  [[nodiscard]] std::optional<SocketAttempt> attempt(pid_t task, const NamedSocket& named) const;

 private:
  [[nodiscard]] InsideFile find(const std::string& path, bool follow) const;

  base::Fd root_;
};

}  // namespace cordon::linux_backend
