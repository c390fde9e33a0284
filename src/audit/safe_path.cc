#include "audit/safe_path.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/errors.h"
#include "base/trust.h"

namespace cordon::audit {
namespace {

std::unexpected<Error> unsafe(const std::string& part, const std::string& why) {
  return base::fail(ErrorCode::not_permitted, "audit",
                    "the audit log is not safe in " + part + ": " + why);
}

bool may_write(const struct stat& info, bool last) {
  return base::others_may_write(info, last ? base::Sticky::is_open : base::Sticky::is_closed);
}

Result<void> check(int fd, const std::string& part, bool last) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return base::fail_os("audit", errno, "cannot examine " + part);
  if (!base::owner_is_trusted(info)) {
    return unsafe(part, "it belongs to user " + std::to_string(info.st_uid) +
                            "; choose a directory of yours or root's");
  }
  if (may_write(info, last)) {
    return unsafe(part, "others may write to it; forbid that (chmod go-w) or choose another");
  }
  return {};
}

// The next part below `parent`, made if it is missing. Error ELOOP or ENOTDIR: it is a link.
Result<base::Fd> enter(int parent, const std::string& name, const std::string& part, bool last) {
  // What is only passed through need not be readable.
  const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY : O_PATH);
  for (bool made = false;; made = true) {
    base::Fd next(::openat(parent, name.c_str(), flags));
    if (next) return next;
    if (errno != ENOENT || made) {
      return base::fail_os("audit", errno, "cannot open " + part + " for the audit log");
    }
    if (::mkdirat(parent, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return base::fail_os("audit", errno, "cannot make " + part + " for the audit log");
    }
  }
}

// `path` begins at the root and has no "." and "..".
Result<base::Fd> walk(std::string_view path) {
  base::Fd here(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!here) return base::fail_os("audit", errno, "cannot open /");
  while (path.ends_with('/')) path.remove_suffix(1);
  if (auto safe = check(here.get(), "/", path.empty()); !safe) {
    return std::unexpected(std::move(safe).error());
  }
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin + 1), path.size());
    const std::string part(path.substr(0, end));
    const bool last = end == path.size();
    auto next = enter(here.get(), part.substr(begin + 1), part, last);
    if (!next) return next;
    if (auto safe = check(next->get(), part, last); !safe) {
      return std::unexpected(std::move(safe).error());
    }
    here = *std::move(next);
    begin = end;
  }
  return here;
}

bool is_simple(std::string_view path) {
  return path.starts_with('/') && path.find("//") == std::string_view::npos &&
         path.find("/./") == std::string_view::npos &&
         path.find("/../") == std::string_view::npos && !path.ends_with("/.") &&
         !path.ends_with("/..");
}

// The usual case in few system calls: all of the path is there, without links, and safe. The parts
// are looked at from below, as the parents of what is open. Invalid: walk it, to see what is wrong.
base::Fd open_if_all_is_well(const std::string& path) {
  const open_how how{
      .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, .mode = 0, .resolve = RESOLVE_NO_SYMLINKS};
  base::Fd fd(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0 || !base::owner_is_trusted(info) ||
      may_write(info, true))
    return {};
  std::string up;
  for (std::size_t at = path.rfind('/'); at != std::string::npos;
       at = at == 0 ? std::string::npos : path.rfind('/', at - 1)) {
    up += up.empty() ? ".." : "/..";
    const bool seen = ::fstatat(fd.get(), up.c_str(), &info, 0) == 0;
    if (!seen || !base::owner_is_trusted(info) || may_write(info, false)) return {};
  }
  return fd;
}

}  // namespace

Result<base::Fd> open_safe_directory(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return base::fail(ErrorCode::invalid_argument, "audit", "the audit log has no directory");
  }
  std::error_code error;
  const std::string whole =
      is_simple(path) ? path : std::filesystem::absolute(path, error).lexically_normal().string();
  if (error) return base::fail_os("audit", error.value(), "cannot find " + path);
  if (base::Fd fd = open_if_all_is_well(whole); fd) return fd;
  auto opened = walk(whole);
  if (opened || (opened.error().os_error != ELOOP && opened.error().os_error != ENOTDIR)) {
    return opened;
  }
  // A link on the way. Where it leads is walked just as strictly.
  const std::string real = std::filesystem::weakly_canonical(whole, error).string();
  if (error || real == whole) return opened;
  return walk(real);
}

}  // namespace cordon::audit
