// Stands in until the linux backend is there.
#include "backend/linux/cgroup.h"
#include "base/errors.h"
#include "cordon/manager.h"

namespace cordon {

Result<std::unique_ptr<Manager>> linux_manager() {
  return base::fail(ErrorCode::unsupported, "backend",
                    "the linux backend is not part of this build: use --backend posix");
}

namespace linux_backend {

[[gnu::weak]] Result<std::unique_ptr<CgroupParent>> open_cgroup_parent(
    const std::string& /*name*/) {
  return base::fail(ErrorCode::unsupported, "cgroup", "control groups are not part of this build");
}

}  // namespace linux_backend
}  // namespace cordon
