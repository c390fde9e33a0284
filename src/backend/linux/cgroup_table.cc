#include "backend/linux/cgroup_table.h"

#include <algorithm>

#include "backend/linux/mountinfo_text.h"

namespace cordon::linux_backend {
namespace {

// Takes the text up to `separator` off the front.
std::string_view take(std::string_view& text, char separator) {
  const auto end = std::min(text.find(separator), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::vector<std::string> split(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) parts.emplace_back(take(list, separator));
  return parts;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

}  // namespace

std::vector<CgroupMount> parse_mountinfo(std::string_view text) {
  std::vector<CgroupMount> mounts;
  while (!text.empty()) {
    // id parent major:minor root point options [optional fields] - type source super-options
    std::string_view line = take(text, '\n');
    for (int skipped = 0; skipped < 3; ++skipped) take(line, ' ');
    const auto root = take(line, ' ');
    const auto point = take(line, ' ');
    const auto options = split(take(line, ' '), ',');
    while (!line.empty() && take(line, ' ') != "-") {
    }
    const auto type = take(line, ' ');
    if (type != "cgroup" && type != "cgroup2") continue;
    take(line, ' ');
    CgroupMount mount{.v2 = type == "cgroup2",
                      .read_only = has(options, "ro"),
                      .root = unescaped_mount_path(root),
                      .point = unescaped_mount_path(point),
                      .controllers = {}};
    auto super = split(line, ',');
    mount.read_only = mount.read_only || has(super, "ro");
    // Other super options stand among them, which no one will ask for as a controller.
    if (!mount.v2) mount.controllers = std::move(super);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

std::optional<std::string_view> group_of(std::string_view proc_pid_cgroup,
                                         std::string_view controller) {
  while (!proc_pid_cgroup.empty()) {
    std::string_view path = take(proc_pid_cgroup, '\n');
    const auto id = take(path, ':');
    std::string_view list = take(path, ':');
    if (list.empty() && controller.empty() && id == "0") return path;
    while (!list.empty()) {
      if (take(list, ',') == controller && !controller.empty()) return path;
    }
  }
  return std::nullopt;
}

std::optional<std::string> below(std::string_view root, std::string_view group) {
  if (root == "/") root = {};
  // A path that goes up is outside of our cgroup namespace.
  if (!group.starts_with('/') || group.starts_with("/..")) return std::nullopt;
  if (!group.starts_with(root)) return std::nullopt;
  group.remove_prefix(root.size());
  if (!group.empty() && group.front() != '/') return std::nullopt;
  while (group.starts_with('/')) group.remove_prefix(1);
  return std::string(group);
}

std::string full_path(std::string_view root, std::string_view relative) {
  std::string path(root == "/" ? "" : root);
  if (!relative.empty()) path.append("/").append(relative);
  return path.empty() ? "/" : path;
}

const CgroupMount* mount_for(const std::vector<CgroupMount>& mounts, std::string_view controller,
                             std::string_view group) {
  const CgroupMount* best = nullptr;
  int best_rank = -1;
  for (const auto& mount : mounts) {
    if (controller.empty() ? !mount.v2 : mount.v2 || !has(mount.controllers, controller)) continue;
    const int rank = (below(mount.root, group) ? 2 : 0) + (mount.read_only ? 0 : 1);
    if (rank > best_rank) {
      best = &mount;
      best_rank = rank;
    }
  }
  return best;
}

}  // namespace cordon::linux_backend
