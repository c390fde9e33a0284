#include "cordon/manager.h"

namespace cordon {

// No fallback: a caller who counts on a sandbox must not get a bare process instead.
Result<std::unique_ptr<Manager>> os_manager() {
  auto manager = linux_manager();
  if (!manager) {
    manager.error().message +=
        " (posix_manager(), or --backend posix, runs programs without isolation)";
  }
  return manager;
}

}  // namespace cordon
