// Opening files whose place decides whether they can be trusted.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::execution {

struct FoundFile {
  base::Fd file{};     // O_PATH
  std::string path{};  // absolute, links resolved
  struct stat info{};
};

// Finds what is at `path`, following links but those of /proc. Relative to `base` (an absolute
// path) if `path` is. Nothing is opened for reading: not even a pipe or a device notices.
[[nodiscard]] Result<FoundFile> find_file(const std::string& path, const std::string& base = "");

// The same for reading. Error: what find_file() found is not a regular file, or is not readable.
[[nodiscard]] Result<base::Fd> open_regular(const FoundFile& found);

// Refuses a file that somebody else than root or the caller could change, or put another in its
// place: by its owner, its mode, and those of every directory on its path. The message begins with
// `what`, e.g. "the policy file /a/b".
[[nodiscard]] Result<void> check_trusted(const FoundFile& found, const std::string& what);

// Up to `most` bytes of a regular file. Error: invalid_argument, it is larger.
[[nodiscard]] Result<std::string> read_all(const FoundFile& found, std::size_t most);

}  // namespace cordon::execution
