// Where the tree lies decides what some tests can show: other users have to reach the programs in
// it, and what is above it is visible inside a sandbox that has it as working directory.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "support/must_work.h"

namespace cordon::support {

// The folder on the way to the test programs that others may not enter; empty if they may.
inline std::string private_folder_of_tree() {
  namespace fs = std::filesystem;
  for (fs::path folder = CORDON_TEST_PROGRAMS_DIR;; folder = folder.parent_path()) {
    struct stat status{};
    if (::stat(folder.c_str(), &status) != 0 || (status.st_mode & S_IXOTH) == 0) return folder;
    if (folder == folder.root_path()) return {};
  }
}

// No folder at all is above nothing.
inline bool tree_is_below(std::string_view folder) {
  return !folder.empty() &&
         std::string_view(CORDON_TEST_PROGRAMS_DIR).starts_with(std::string(folder) + "/");
}

}  // namespace cordon::support

// Skips what another user does with programs of a tree that is private to its owner.
#define CORDON_SKIP_IN_PRIVATE_TREE()                                                           \
  do {                                                                                          \
    if (const auto folder = ::cordon::support::private_folder_of_tree(); !folder.empty()) {     \
      CORDON_SKIP_WITHOUT("user", "others may not enter " + folder + ", which the tree is in"); \
    }                                                                                           \
  } while (false)
