// Control files of one group, of which some are kept open: for when somebody waits for what they
// say. Used by one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"

namespace cordon::linux_backend {

class HeldFiles {
 public:
  // Opens `path` below `dir` now, unless it is open already. What cannot be opened is read by its
  // name, as all others are.
  void hold(int dir, std::string path);
  // For files whose whole text the kernel makes at once, as it does for counters.
  [[nodiscard]] std::optional<std::string> read(int dir, const std::string& path) const;

 private:
  struct Held {
    int dir;
    std::string path;
    base::Fd file;
  };
  std::vector<Held> held_;
};

}  // namespace cordon::linux_backend
