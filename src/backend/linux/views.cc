#include "backend/linux/views.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "backend/linux/probe_files.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using plan::View;

// What was asked for has been resolved and judged: a link that is there now was not there then.
base::Fd open_path(const View& view) {
  const bool follow = !view.optional || view.follow;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  how.resolve = view.optional ? RESOLVE_NO_MAGICLINKS : RESOLVE_NO_SYMLINKS;
  return base::Fd(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, view.source.c_str(), &how, sizeof how)));
}

Error cannot_open(const View& view, int error) {
  std::string what = "opening " + view.source + ", which was granted as " + view.target;
  if (view.source == view.target) what = "opening " + view.source + ", which was granted";
  if (error == ENOENT) what += ": create it first, or leave the grant out";
  return base::fail_os("mount", error, what).error();
}

// Where the link leads; `directory` may be the link itself, with an empty name.
std::optional<std::string> target_of_link(int directory, const char* name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(directory, name, target, sizeof target);
  if (size < 0) return std::nullopt;
  return std::string(target, static_cast<std::size_t>(size));
}

Result<void> open_one(OpenView& open) {
  View& view = open.view;
  open.source = open_path(view);
  struct stat found{};
  if (!open.source || ::fstat(open.source.get(), &found) != 0) {
    return std::unexpected(cannot_open(view, errno));
  }
  open.device = found.st_dev;
  open.inode = found.st_ino;
  if (S_ISLNK(found.st_mode)) {  // only optional ones are opened as links
    auto target = target_of_link(open.source.get(), "");
    if (!target) return std::unexpected(cannot_open(view, errno));
    view.kind = View::Kind::symlink;
    view.content = *std::move(target);
    open.source.reset();
    return {};
  }
  if (view.kind == View::Kind::device && !S_ISCHR(found.st_mode)) {
    return base::fail(ErrorCode::system, "mount", view.source + " is not a character device");
  }
  open.directory = S_ISDIR(found.st_mode);
  return {};
}

// "ext4"; without a name "its file system".
std::string file_system_of(const OpenView& open) {
  struct statx info{};
  const auto mounts = read_small_file("/proc/self/mountinfo");
  if (!mounts || ::statx(open.source.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &info) != 0) {
    return "its file system";
  }
  const std::string name = file_system_of_mount(*mounts, info.stx_mnt_id);
  return name.empty() ? "its file system" : name;
}

bool is_directory(const std::string& path) {
  struct stat found{};
  return ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Result<std::vector<OpenView>> open_views(const std::vector<View>& views) {
  std::vector<OpenView> all;
  all.reserve(views.size());
  for (const View& view : views) {
    OpenView open{.view = view, .source = {}};
    if (view.kind == View::Kind::tmpfs && view.optional && !is_directory(view.source)) continue;
    if (view.kind == View::Kind::bind || view.kind == View::Kind::device) {
      if (auto opened = open_one(open); !opened) {
        const int error = opened.error().os_error;
        if (view.optional && (error == ENOENT || error == ENOTDIR)) continue;
        return std::unexpected(std::move(opened.error()));
      }
    }
    all.push_back(std::move(open));
  }
  return all;
}

Result<void> add_pins(std::vector<OpenView>& views, const std::vector<View>& pins,
                      const Request& request) {
  for (const View& view : pins) {
    const auto pin = std::ranges::find(request.pins, view.target, &Pin::path);
    OpenView open{.view = view, .source = base::Fd(::fcntl(pin->fd, F_DUPFD_CLOEXEC, 0))};
    struct stat found{};
    if (!open.source || ::fstat(open.source.get(), &found) != 0) {
      return base::fail_os("pin", errno, "taking " + view.target + ", which was checked before");
    }
    if (!S_ISREG(found.st_mode)) {
      return base::fail(ErrorCode::invalid_argument, "pin",
                        view.target + " is pinned, but is no regular file: name one");
    }
    open.device = found.st_dev;
    open.inode = found.st_ino;
    open.executed = view.target == request.program;
    views.push_back(std::move(open));
  }
  return {};
}

OpenView without_source(const OpenView& open) {
  OpenView copy{.view = open.view, .source = {}};
  copy.directory = open.directory;
  copy.device = open.device;
  copy.inode = open.inode;
  return copy;
}

bool same_on_host(const OpenView& open) {
  if (open.view.source.empty()) return true;
  if (open.view.kind == View::Kind::tmpfs) return is_directory(open.view.source);
  // Nothing keeps it, so another may have got its number.
  if (open.view.kind == View::Kind::symlink) {
    return target_of_link(AT_FDCWD, open.view.source.c_str()) == open.view.content;
  }
  struct stat found{};
  const int flags = shown_as_link(open.view) ? AT_SYMLINK_NOFOLLOW : 0;
  if (::fstatat(AT_FDCWD, open.view.source.c_str(), &found, flags) != 0) return false;
  return found.st_dev == open.device && found.st_ino == open.inode;
}

std::vector<View> left_out(const std::vector<View>& asked, const std::vector<OpenView>& opened) {
  std::vector<View> absent;
  for (const View& view : asked) {
    const bool there = std::ranges::any_of(
        opened, [&](const OpenView& open) { return open.view.target == view.target; });
    if (!there) absent.push_back(view);
  }
  return absent;
}

bool still_absent(const View& view) {
  if (view.kind == View::Kind::tmpfs) return !is_directory(view.source);
  return ::access(view.source.c_str(), F_OK) != 0;
}

Error cannot_map_ids(const std::vector<OpenView>& views, const std::string& source, int os_error) {
  std::string system = "its file system";
  for (const OpenView& open : views) {
    if (open.view.granted && open.source && open.view.source == source) {
      system = file_system_of(open);
    }
  }
  return {ErrorCode::unsupported, "mount", os_error,
          "grant write of " + source + ": for a root caller this needs an idmapped mount, which " +
              system + ", or something mounted below it, cannot be on this kernel (" +
              base::errno_text(os_error) +
              "): grant it read-only, or choose a user that owns the directory by --user"};
}

}  // namespace cordon::linux_backend
