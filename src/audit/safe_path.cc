#include "audit/safe_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/errors.h"

namespace cordon::audit {
namespace {

std::unexpected<Error> unsafe(const std::string& part, const std::string& why) {
  return base::fail(ErrorCode::not_permitted, "audit",
                    "the audit log is not safe in " + part + ": " + why);
}

Result<void> check(int fd, const std::string& part, bool last) {
  struct stat info{};
  if (::fstat(fd, &info) != 0) return base::fail_os("audit", errno, "cannot examine " + part);
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) {
    return unsafe(part, "it belongs to user " + std::to_string(info.st_uid) +
                            "; choose a directory of yours or root's");
  }
  const bool open_to_others = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (open_to_others && (last || (info.st_mode & S_ISVTX) == 0)) {
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

Result<base::Fd> walk(const std::filesystem::path& path) {
  base::Fd here(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!here) return base::fail_os("audit", errno, "cannot open /");
  std::string part;
  const std::filesystem::path below = path.relative_path();
  if (auto safe = check(here.get(), "/", below.empty()); !safe) {
    return std::unexpected(std::move(safe).error());
  }
  for (auto it = below.begin(); it != below.end(); ++it) {
    if (it->empty()) continue;  // after a trailing slash
    part.append("/").append(it->native());
    const auto after = std::next(it);
    const bool last = after == below.end() || after->empty();
    auto next = enter(here.get(), it->native(), part, last);
    if (!next) return next;
    if (auto safe = check(next->get(), part, last); !safe) {
      return std::unexpected(std::move(safe).error());
    }
    here = *std::move(next);
  }
  return here;
}

}  // namespace

Result<base::Fd> open_safe_directory(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return base::fail(ErrorCode::invalid_argument, "audit", "the audit log has no directory");
  }
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error).lexically_normal();
  if (error) return base::fail_os("audit", error.value(), "cannot find " + path);
  auto opened = walk(whole);
  if (opened || (opened.error().os_error != ELOOP && opened.error().os_error != ENOTDIR)) {
    return opened;
  }
  // A link on the way. Where it leads is walked just as strictly.
  const std::filesystem::path real = std::filesystem::weakly_canonical(whole, error);
  if (error || real == whole) return opened;
  return walk(real);
}

}  // namespace cordon::audit
