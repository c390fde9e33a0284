#include "backend/linux/explain_host.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <deque>
#include <optional>
#include <utility>

#include "backend/linux/mountinfo_text.h"
#include "base/fd.h"
#include "base/paths.h"

namespace cordon::linux_backend {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

bool may_hang(std::string_view type) {
  constexpr auto kTypes = std::to_array<std::string_view>(
      {"autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "ceph", "coda", "lustre", "fuse"});
  return type.starts_with("fuse.") || std::ranges::find(kTypes, type) != kTypes.end();
}

std::string_view field(std::string_view line, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return {};
    line.remove_prefix(space + 1);
  }
  return line.substr(0, line.find(' '));
}

using Names = std::deque<std::string>;

// Puts the names of a path in front of those that are left.
void prepend(Names& left, std::string_view path) {
  Names names;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  left.insert(left.begin(), names.begin(), names.end());
}

std::optional<std::string> target_of(int link) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlinkat(link, "", target.data(), target.size());
  if (size <= 0 || size == static_cast<ssize_t>(target.size())) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

base::Fd root() { return base::Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)); }

}  // namespace

std::vector<std::string> places_to_avoid(std::string_view mountinfo) {
  std::vector<std::string> places;
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(mountinfo.size(), line.size() + 1));
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos || !may_hang(field(line.substr(dash), 2))) continue;
    std::string place = unescaped_mount_path(field(line, 4));
    if (place != "/") places.push_back(std::move(place));  // who runs on it may look at it
  }
  return places;
}

HostFiles::HostFiles(std::vector<std::string> avoid) : avoid_(std::move(avoid)) {
  avoid_.emplace_back("/proc");  // its links lead anywhere
}

bool HostFiles::avoided(std::string_view path) const {
  return std::ranges::any_of(
      avoid_, [&](const std::string& place) { return base::at_or_below(path, place); });
}

HostFile HostFiles::find(const std::string& path) const {
  Names left;
  prepend(left, path);
  base::Fd at = root();
  std::string where;  // without links; empty: the root
  struct stat found{};
  int links = 0;
  while (at && !left.empty()) {
    const std::string name = std::move(left.front());
    left.pop_front();
    std::string next = where;
    next += '/';
    next += name;
    if (name == "..") next = where.substr(0, where.empty() ? 0 : where.rfind('/'));
    if (avoided(next.empty() ? "/" : next)) return {};
    // One name, and no link followed: nothing is mounted on demand by this.
    base::Fd inner(::openat(at.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!inner || ::fstat(inner.get(), &found) != 0) return {};
    if (!S_ISLNK(found.st_mode)) {
      where = std::move(next);
      at = std::move(inner);
      continue;
    }
    const auto target = target_of(inner.get());
    if (!target || ++links > kMostLinks) return {};
    if (target->starts_with('/')) {
      at = root();
      where.clear();
    }
    prepend(left, *target);
  }
  if (!at || ::fstat(at.get(), &found) != 0) return {};
  return {.exists = true,
          .path = where.empty() ? "/" : where,
          .world_readable = (found.st_mode & S_IROTH) != 0};
}

}  // namespace cordon::linux_backend
