// The directory that one life of a sandbox has for its engine: STATE/CONTAINER_ID.
#pragma once

#include <filesystem>
#include <string>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::sandbox {

// For one thread at a time.
class LifeDirectory {
 public:
  LifeDirectory() = default;
  // Makes it, empty and with mode 0700, and everything above it that is missing. Errors: as of
  // workdir::open_safe_directory().
  [[nodiscard]] static Result<LifeDirectory> make(const std::filesystem::path& state,
                                                  const std::string& container_id);
  // Removes it, and STATE if nothing else is in that. Any number of times. Errors: what could not
  // be removed, and why; calling it again goes on.
  [[nodiscard]] Result<void> remove();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  base::Fd state_;
  base::Fd directory_;
  std::filesystem::path above_;
  std::filesystem::path path_;  // empty: there is none
};

}  // namespace cordon::sandbox
