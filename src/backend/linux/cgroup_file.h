// Control files by directory descriptor and name: reading, writing, and errors that name the file,
// the value and what to do. Thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::linux_backend {

// A directory of a hierarchy, and its path for messages.
struct CgroupDir {
  base::Fd fd{};
  std::string path{};
};

// Paths below `dir` may have several components.
[[nodiscard]] base::Fd open_file(int dir, const char* path, int flags);
// Reads from the start of an opened file, to its end. Empty: it cannot be read.
[[nodiscard]] std::optional<std::string> read_all(int fd);
// The same for a file whose whole text the kernel makes at once: a list it makes in parts.
[[nodiscard]] std::optional<std::string> read_value(int fd);
[[nodiscard]] std::optional<std::string> read_file(int dir, const char* path);
// 0, or the errno.
[[nodiscard]] int write_file(int dir, const char* path, std::string_view value);
// The same for a limit: the error (limit_not_applied) has the stage "limit:<limit>".
[[nodiscard]] Result<void> set_limit(std::string_view limit, const CgroupDir& dir,
                                     const std::string& path, std::string_view value);
[[nodiscard]] bool exists(int dir, const char* path);

// The group `relative` ("a/b", or "" for the top) of the hierarchy mounted at `point`. Missing
// groups are made if `create` says so. The message says what failed, not what to do.
[[nodiscard]] Result<CgroupDir> open_group(const std::string& point, std::string_view relative,
                                           bool create);

// Whether the host has swap, or may have: /proc/swaps cannot be read.
[[nodiscard]] bool swap_in_use();

// What to do about an errno of a cgroup operation: "give the caller's user write access …".
[[nodiscard]] std::string_view advice_for(int os_error);

}  // namespace cordon::linux_backend
