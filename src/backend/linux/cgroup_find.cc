#include <fcntl.h>

#include <algorithm>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_table.h"
#include "backend/linux/cgroup_v1.h"
#include "backend/linux/cgroup_v2.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

// "/a//b/" → "a/b". Error: it leads out of the hierarchy.
Result<std::string> normalized(std::string_view name) {
  std::string path;
  while (!name.empty()) {
    const auto end = std::min(name.find('/'), name.size());
    const auto part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      return base::fail(ErrorCode::invalid_argument, "cgroup",
                        "a cgroup parent may not contain \"..\"; give its path from the top of the "
                        "hierarchy");
    }
    if (!path.empty()) path += '/';
    path += part;
  }
  return path;
}

}  // namespace

Result<std::unique_ptr<CgroupParent>> open_cgroup_parent(const std::string& name) {
  return open_cgroup_parent(name, read_file(AT_FDCWD, "/proc/self/mountinfo"));
}

Result<std::unique_ptr<CgroupParent>> open_cgroup_parent(
    const std::string& name, const std::optional<std::string>& mountinfo) {
  const auto wanted = normalized(name);
  if (!wanted) return std::unexpected(wanted.error());
  if (wanted->empty() && !name.empty()) {
    return base::fail(ErrorCode::invalid_argument, "cgroup",
                      "a cgroup parent cannot be the top of the hierarchy; name a group below it");
  }
  const auto own = read_file(AT_FDCWD, "/proc/self/cgroup");
  if (!own || !mountinfo) {
    return base::fail(ErrorCode::unsupported, "cgroup",
                      "/proc/self/cgroup cannot be read, so that no group can be found; mount "
                      "/proc, on a kernel with control groups");
  }
  const auto mounts = parse_mountinfo(*mountinfo);
  // A controller is in one kind of hierarchy only. Hosts with both put all that matters to us into
  // v1; memory decides, for the others are of little use without it.
  const auto v2_group = group_of(*own, "");
  const CgroupMount* const v2 = v2_group ? mount_for(mounts, "", *v2_group) : nullptr;
  const auto in_v1 = [&](std::string_view controller) {
    const auto group = group_of(*own, controller);
    return group && mount_for(mounts, controller, *group) != nullptr;
  };
  if (in_v1("memory") || (v2 == nullptr && (in_v1("pids") || in_v1("cpu")))) {
    return open_cgroup_v1(mounts, *own, *wanted);
  }
  if (v2 != nullptr) {
    auto parent = open_cgroup_v2(*v2, *v2_group, *wanted);
    if (!parent && (in_v1("pids") || in_v1("cpu"))) return open_cgroup_v1(mounts, *own, *wanted);
    return parent;
  }
  return base::fail(ErrorCode::unsupported, "cgroup",
                    "no control group hierarchy is mounted; mount one (mount -t cgroup2 none "
                    "/sys/fs/cgroup), or give the container one");
}

Result<std::unique_ptr<Cgroup>> CgroupParent::make(const CgroupLimits& limits) {
  auto group = make(limits.cpu_millicores.has_value());
  if (!group) return group;
  if (auto set = (*group)->set(limits); !set) return std::unexpected(std::move(set.error()));
  return group;
}

}  // namespace cordon::linux_backend
