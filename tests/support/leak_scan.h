// Looks for some bytes in everything that a run's processes show of themselves.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::support {

struct Leak {
  std::string process;  // as it calls itself: "cordon", "cordon-spawner", "cordon-init" …
  std::string place;    // "cmdline", "environ", "memory", "locked memory", "descriptor"

  friend bool operator==(const Leak&, const Leak&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Leak& leak) {
    return out << leak.place << " of " << leak.process;
  }
};

struct LeakScan {
  std::vector<Leak> leaks;
  std::map<std::string, std::size_t> memory_read;  // bytes, by the name of the process
  std::size_t processes = 0;
};

// `root` and all its descendants: arguments, environment, every readable page of memory, and what
// is behind descriptors that are files in memory. "locked memory" is out of core dumps as well.
[[nodiscard]] LeakScan scan_processes(pid_t root, std::string_view needle);

// Files below `folder` that have it, `except` this one.
[[nodiscard]] std::vector<std::string> scan_files(const std::filesystem::path& folder,
                                                  std::string_view needle,
                                                  const std::string& except = {});

}  // namespace cordon::support
