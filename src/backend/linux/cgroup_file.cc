#include "backend/linux/cgroup_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.h"

namespace cordon::linux_backend {

using base::Fd;

Fd open_file(int dir, const char* path, int flags) {
  return Fd(::openat(dir, path, flags | O_CLOEXEC | O_NOCTTY));
}

std::optional<std::string> read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::optional<std::string> read_value(int fd) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  if (got < 0 || static_cast<std::size_t>(got) == buffer.size()) return read_all(fd);
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

std::optional<std::string> read_file(int dir, const char* path) {
  const Fd file = open_file(dir, path, O_RDONLY);
  return file ? read_all(file.get()) : std::nullopt;
}

int write_file(int dir, const char* path, std::string_view value) {
  const Fd file = open_file(dir, path, O_WRONLY);
  if (!file) return errno;
  while (::write(file.get(), value.data(), value.size()) < 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

std::string_view advice_for(int os_error) {
  switch (os_error) {
    case EACCES:
    case EPERM:
      return "give the caller's user write access to that group, or name another by "
             "--cgroup-parent";
    case EROFS:
      return "mount the hierarchy writable, or run it where it is";
    case ENOENT:
      return "enable the controller in that group, or name another by --cgroup-parent";
    case EINVAL:
    case ERANGE:
      return "choose a value inside the kernel's bounds and the limits of the groups above";
    case EBUSY:
      return "start it in a delegated group of its own (systemd-run --user --scope -p Delegate=yes "
             "...) or name one by --cgroup-parent";
    case ENOSPC:
    case EAGAIN:
      return "remove groups that are no longer used, or raise cgroup.max.descendants";
    default:
      return "name another group by --cgroup-parent";
  }
}

Result<void> set_limit(std::string_view limit, const CgroupDir& dir, const std::string& path,
                       std::string_view value) {
  const int error = write_file(dir.fd.get(), path.c_str(), value);
  if (error == 0) return {};
  return std::unexpected(Error{ErrorCode::limit_not_applied, "limit:" + std::string(limit), error,
                               "writing \"" + std::string(value) + "\" to " + dir.path + "/" +
                                   path + ": " + base::errno_text(error) + "; " +
                                   std::string(advice_for(error))});
}

bool exists(int dir, const char* path) { return ::faccessat(dir, path, F_OK, 0) == 0; }

bool swap_in_use() {
  // A line for the head, and one for each.
  const auto swaps = read_file(AT_FDCWD, "/proc/swaps");
  return !swaps || std::ranges::count(*swaps, '\n') > 1;
}

Result<CgroupDir> open_group(const std::string& point, std::string_view relative, bool create) {
  CgroupDir dir{open_file(AT_FDCWD, point.c_str(), O_RDONLY | O_DIRECTORY), point};
  while (dir.fd && !relative.empty()) {
    const auto end = std::min(relative.find('/'), relative.size());
    const std::string name(relative.substr(0, end));
    relative.remove_prefix(std::min(end + 1, relative.size()));
    dir.path += "/" + name;
    // Mostly it is there; and one above the last may be, without the right to make others beside
    // it.
    constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    base::Fd next = open_file(dir.fd.get(), name.c_str(), kDirectory);
    if (!next && errno == ENOENT && create) {
      if (::mkdirat(dir.fd.get(), name.c_str(), 0755) != 0 && errno != EEXIST) {
        return base::fail_os("cgroup", errno, "making the group " + dir.path);
      }
      next = open_file(dir.fd.get(), name.c_str(), kDirectory);
    }
    dir.fd = std::move(next);
  }
  if (!dir.fd) return base::fail_os("cgroup", errno, "opening the group " + dir.path);
  dir.fd = base::move_up(std::move(dir.fd));
  return dir;
}

}  // namespace cordon::linux_backend
