// Changing a client's file: all at once or not at all, and never over somebody else's change.
#pragma once

#include <string>

#include "cordon/error.h"

namespace cordon::app {

struct ConfigFile {
  std::string path{};  // where it really is, links followed
  std::string text{};
};

// Errors: invalid_argument (not a regular file, too large, or with several names), the OS's.
[[nodiscard]] Result<ConfigFile> read_config(const std::string& path);

// Copies what was read to a new file beside it, FILE.cordon-backup or …-backup.1 and so on, for its
// owner alone. Returns its path. No file is ever replaced.
[[nodiscard]] Result<std::string> back_up(const ConfigFile& file);

// Puts `text` in its place, with mode and owner as they are. Error: wrong_state if the file is not
// any more what was read: then it is as it was found. Else the OS's.
[[nodiscard]] Result<void> replace_config(const ConfigFile& file, const std::string& text);

}  // namespace cordon::app
