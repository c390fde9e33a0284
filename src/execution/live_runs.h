// How many runs of one policy are alive at once (C124): each holds one of so many slots, which are
// locks that the kernel lets go of when the holder ends, however it ends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::execution {

// A slot, until it is destroyed or this process ends.
class LiveRun {
 public:
  LiveRun() = default;

 private:
  friend class LiveRuns;
  explicit LiveRun(base::Fd lock) : lock_(std::move(lock)) {}
  base::Fd lock_;
};

// Thread-safe; any number of processes may share a directory.
class LiveRuns {
 public:
  // The slots below `directory`, which is made (with what is above it) and must be the caller's
  // alone. Errors: those of the OS; not_permitted if others may write to it.
  [[nodiscard]] static Result<LiveRuns> open(const std::string& directory);
  // Where the caller's are: below /run/cordon for root, else below $XDG_RUNTIME_DIR, or without one
  // in a directory of the user's own below /tmp.
  [[nodiscard]] static std::string usual_directory();

  // One of `most` slots that are counted under `name` (say, the policy's path). Error:
  // resource_exhausted if all are taken.
  [[nodiscard]] Result<LiveRun> enter(std::string_view name, std::uint64_t most) const;

 private:
  explicit LiveRuns(base::Fd directory, std::string path)
      : directory_(std::move(directory)), path_(std::move(path)) {}
  base::Fd directory_;
  std::string path_;
};

}  // namespace cordon::execution
