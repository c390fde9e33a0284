#include "backend/linux/seen_on_host.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace cordon::linux_backend {
namespace {

using plan::View;

// Local file systems that keep the times of a directory as POSIX says. Others may have them from a
// server, or not at all.
bool keeps_times(const std::string& directory) {
  constexpr std::uint32_t kXfs = 0x58465342;
  constexpr std::array<std::uint32_t, 4> kKnown = {EXT4_SUPER_MAGIC, kXfs, BTRFS_SUPER_MAGIC,
                                                   TMPFS_MAGIC};
  struct statfs found{};
  if (::statfs(directory.c_str(), &found) != 0) return false;
  return std::ranges::find(kKnown, static_cast<std::uint32_t>(found.f_type)) != kKnown.end();
}

// Times have the grain of the kernel's clock, at most 10 ms: a directory that was changed just now
// may be changed again without showing it.
bool has_settled(const struct stat& directory) {
  constexpr std::int64_t kGrain = 50'000'000;
  timespec now{};
  if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return false;
  const std::int64_t age = (now.tv_sec - directory.st_ctim.tv_sec) * 1'000'000'000 +
                           (now.tv_nsec - directory.st_ctim.tv_nsec);
  return age > kGrain;
}

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

bool unchanged(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && same_time(a.st_ctim, b.st_ctim) &&
         same_time(a.st_mtim, b.st_mtim);
}

// The directory whose entry decides what the view shows; empty: none does alone. Of what is not
// there it is the one that lacks the first part.
std::string deciding_directory(const View& view) {
  std::string path = view.source;
  struct stat found{};
  if (::lstat(path.c_str(), &found) == 0) {
    if (S_ISLNK(found.st_mode) && !shown_as_link(view)) return {};
    const auto slash = path.rfind('/');
    if (path.size() < 2 || slash == std::string::npos) return {};
    return path.substr(0, std::max<std::size_t>(slash, 1));
  }
  while (path.size() > 1) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return {};
    path.resize(std::max<std::size_t>(slash, 1));
    if (::stat(path.c_str(), &found) == 0) return S_ISDIR(found.st_mode) ? path : std::string();
  }
  return {};
}

}  // namespace

SeenOnHost::SeenOnHost(const std::vector<View>& asked, const std::vector<OpenView>& opened) {
  for (const OpenView& open : opened) {
    if (open.view.source.empty()) continue;
    directory_of(open.view).shown.push_back(without_source(open));
  }
  for (View& view : left_out(asked, opened)) {
    Directory& directory = directory_of(view);
    directory.absent.push_back(std::move(view));
  }
  // They were opened before their directories were looked at.
  true_at_first_ = same_entries(others_) && std::ranges::all_of(directories_, same_entries);
}

SeenOnHost::Directory& SeenOnHost::directory_of(const View& view) {
  const std::string directory = deciding_directory(view);
  if (directory.empty()) return others_;
  const auto known = std::ranges::find(directories_, directory, &Directory::path);
  if (known != directories_.end()) return *known;
  Directory made{.path = directory};
  if (::stat(directory.c_str(), &made.seen) != 0 || !keeps_times(directory) ||
      !has_settled(made.seen)) {
    return others_;
  }
  return directories_.emplace_back(std::move(made));
}

bool SeenOnHost::same_entries(const Directory& directory) {
  return std::ranges::all_of(directory.shown, same_on_host) &&
         std::ranges::all_of(directory.absent, still_absent);
}

bool SeenOnHost::still_true() const {
  if (!true_at_first_ || !same_entries(others_)) return false;
  return std::ranges::all_of(directories_, [](const Directory& directory) {
    struct stat now{};
    return (::stat(directory.path.c_str(), &now) == 0 && unchanged(now, directory.seen)) ||
           same_entries(directory);
  });
}

}  // namespace cordon::linux_backend
