#include "backend/linux/cgroup_v2_place.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using plan::Feature;

constexpr auto kDelegate =
    "start it in a delegated group of its own (systemd-run --user --scope -p Delegate=yes ...) or "
    "name one by --cgroup-parent";

std::unexpected<Error> unsupported(std::string why, std::string_view fix) {
  return base::fail(ErrorCode::unsupported, "cgroup", std::move(why) + "; " + std::string(fix));
}

std::string above(const std::string& relative) {
  const auto slash = relative.rfind('/');
  return slash == std::string::npos ? "" : relative.substr(0, slash);
}

// Whether the group holds processes and is not the top of all, which alone may do both. In a group
// with processes the kernel refuses memory with EBUSY, but takes pids and cpu: that would turn it
// into a root of threaded groups, below which no ordinary group can be. So it is not even tried.
bool is_occupied(const CgroupDir& dir) {
  return exists(dir.fd.get(), "cgroup.type") &&
         !read_file(dir.fd.get(), "cgroup.procs").value_or("?").empty();
}

// Hands the controllers that `dir` has on to the groups below it. 0, or the first errno.
int hand_on(const CgroupDir& dir) {
  const auto offered = read_file(dir.fd.get(), "cgroup.controllers").value_or("");
  const auto enabled = read_file(dir.fd.get(), "cgroup.subtree_control").value_or("");
  int first = 0;
  // One by one: of a list, one that fails would keep the others off.
  for (const std::string controller : kV2Controllers) {
    if (!has_word(offered, controller) || has_word(enabled, controller)) continue;
    if (is_occupied(dir)) return EBUSY;
    const int error = write_file(dir.fd.get(), "cgroup.subtree_control", "+" + controller);
    if (first == 0) first = error;
  }
  return first;
}

// The first limit that the group itself sets; ancestors' limits bind beside it as well.
const char* own_limit(const CgroupDir& dir) {
  for (const char* const file : {"memory.max", "memory.high", "memory.swap.max", "pids.max",
                                 "cpu.max", "cpuset.cpus", "cpuset.mems", "io.max"}) {
    const auto text = read_file(dir.fd.get(), file);
    if (!text) continue;  // its controller is not enabled
    const auto value = trimmed(*text);
    if (!value.empty() && value != "max" && !value.starts_with("max ")) return file;
  }
  return nullptr;
}

// The name for the default parent, below or beside the caller's own group.
Result<std::string> default_place(const CgroupMount& mount, const std::string& own) {
  const auto dir = open_group(mount.point, own, false);
  if (!dir) return unsupported(dir.error().message, kDelegate);
  const int error = hand_on(*dir);
  if (error != EBUSY) return own.empty() ? "cordon" : own + "/cordon";
  if (own.empty()) {
    return unsupported("the caller's group is the top of what is visible in " + mount.point +
                           " and holds processes, so that it cannot hand controllers on",
                       kDelegate);
  }
  if (const char* const limit = own_limit(*dir)) {
    return unsupported("the caller's group " + dir->path +
                           " holds processes, so that it cannot hand controllers on, and a group "
                           "beside it would escape its " +
                           limit,
                       kDelegate);
  }
  const std::string beside = above(own);
  const auto outer = open_group(mount.point, beside, false);
  if (!outer) return unsupported(outer.error().message, kDelegate);
  if (::faccessat(outer->fd.get(), ".", W_OK, AT_EACCESS) != 0) {
    return unsupported("the caller's group " + dir->path +
                           " holds processes, so that it cannot hand controllers on, and " +
                           outer->path + " above it is not writable",
                       kDelegate);
  }
  (void)hand_on(*outer);
  return beside.empty() ? "cordon" : beside + "/cordon";
}

// A process is moved only by who may write cgroup.procs of the nearest group above both ends.
Result<void> may_move(const CgroupMount& mount, const std::string& own, const std::string& to) {
  std::string common = own;
  while (!common.empty() && !(to + "/").starts_with(common + "/")) common = above(common);
  const auto dir = open_group(mount.point, common, false);
  if (!dir) return unsupported(dir.error().message, kDelegate);
  if (::faccessat(dir->fd.get(), "cgroup.procs", W_OK, AT_EACCESS) == 0) return {};
  return unsupported("processes cannot be moved to " + mount.point + "/" + to + ": " + dir->path +
                         "/cgroup.procs: " + base::errno_text(errno),
                     kDelegate);
}

// Makes a group that the user named, with controllers as far as they can be had.
void prepare(const CgroupMount& mount, const std::string& relative) {
  std::size_t end = 0;
  while (end != std::string::npos) {
    const auto dir = open_group(mount.point, relative.substr(0, end), end != 0);
    if (!dir) return;
    (void)hand_on(*dir);
    end = relative.find('/', end + 1);
  }
}

}  // namespace

Result<V2Place> find_v2_place(const CgroupMount& mount, std::string_view own,
                              const std::string& name) {
  const auto own_below = below(mount.root, own);
  std::string relative = name;
  if (name.empty()) {
    if (!own_below) {
      return unsupported(
          "the caller's group " + std::string(own) + " is not visible in " + mount.point,
          "name one that is by --cgroup-parent");
    }
    auto place = default_place(mount, *own_below);
    if (!place) return std::unexpected(std::move(place.error()));
    relative = std::move(*place);
  } else {
    prepare(mount, relative);
  }
  auto dir = open_group(mount.point, relative, true);
  if (!dir) return unsupported(dir.error().message, advice_for(dir.error().os_error));
  if (own_below) {
    if (auto moves = may_move(mount, *own_below, relative); !moves) {
      return std::unexpected(std::move(moves.error()));
    }
  }
  V2Place place{std::move(*dir), full_path(mount.root, relative), {}};
  const int error = hand_on(place.parent);
  const int fd = place.parent.fd.get();
  const auto offered = read_file(fd, "cgroup.controllers").value_or("");
  const auto enabled = read_file(fd, "cgroup.subtree_control").value_or("");
  for (std::size_t i = 0; i < kV2Controllers.size(); ++i) {
    const std::string controller = kV2Controllers[i];
    Feature& feature = place.features[i];
    feature.works = has_word(enabled, controller);
    if (feature.works) continue;
    if (has_word(offered, controller)) {
      feature.why = "enabling " + controller + " in " + place.parent.path +
                    "/cgroup.subtree_control: " + base::errno_text(error);
      feature.fix = advice_for(error);
    } else {
      feature.why = "the " + controller + " controller is not handed on to " + place.parent.path;
      feature.fix = kDelegate;
    }
  }
  if (std::ranges::none_of(place.features, &Feature::works)) {
    return unsupported(place.features[0].why, place.features[0].fix);
  }
  return place;
}

}  // namespace cordon::linux_backend
