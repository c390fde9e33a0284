// The log as it is at one moment, for who reads it: files only grow, so what is within these sizes
// stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/directory.h"
#include "audit/head.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::audit {

struct Snapshot {
  struct File {
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    base::Fd fd;        // invalid: it cannot be read …
    std::string error;  // … because
  };
  std::vector<File> files;  // in order
  std::vector<std::string> strange;
  std::optional<Head> head;
  std::string head_error;  // why there is none
};

// Error: the directory cannot be listed.
[[nodiscard]] Result<Snapshot> take_snapshot(const Directory& directory);

}  // namespace cordon::audit
