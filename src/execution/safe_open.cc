#include "execution/safe_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>

#include "base/errors.h"
#include "base/printable.h"
#include "base/trust.h"

namespace cordon::execution {
namespace {

constexpr std::string_view kStage = "policy";

std::string link_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

std::unexpected<Error> untrusted(const std::string& what, const std::string& why) {
  return base::fail(ErrorCode::invalid_argument, kStage, what + " is not used, because " + why);
}

std::string owner(const struct stat& info) { return "uid " + std::to_string(info.st_uid); }

Result<void> check_file(const FoundFile& found, const std::string& what) {
  if (!base::owner_is_trusted(found.info)) {
    return untrusted(what, "it belongs to " + owner(found.info) +
                               ", who is neither root nor you: have it owned by one of both");
  }
  if (base::others_may_write(found.info)) {
    return untrusted(what, "others may write to it: chmod go-w " + base::printable(found.path));
  }
  return {};
}

// `sticky`: closed if what is in it is a directory. In a sticky directory only the owner of an
// entry can move it away, and nobody can make a directory that belongs to somebody else.
Result<void> check_directory(const struct stat& info, const std::string& path, base::Sticky sticky,
                             const std::string& what) {
  const std::string name = "its directory " + base::printable(path);
  if (!base::owner_is_trusted(info)) {
    return untrusted(what, name + " belongs to " + owner(info) +
                               ", who could put another in its place: move it");
  }
  if (!base::others_may_write(info, sticky)) return {};
  return untrusted(
      what, "others may write to " + name + ": move it, or chmod go-w " + base::printable(path));
}

}  // namespace

Result<FoundFile> find_file(const std::string& path, const std::string& base) {
  std::string full = path;
  if (!path.starts_with('/') && !base.empty()) full = base + "/" + path;
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  FoundFile found;
  found.file.reset(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, full.c_str(), &how, sizeof how)));
  if (!found.file || ::fstat(found.file.get(), &found.info) != 0) {
    return base::fail_os(kStage, errno, "opening " + base::printable(full));
  }
  char target[PATH_MAX];
  const ssize_t size = ::readlink(link_of(found.file.get()).c_str(), target, sizeof target);
  struct stat again{};
  if (size > 0 && size < PATH_MAX) found.path.assign(target, static_cast<std::size_t>(size));
  // Else it has been moved or removed just now, or is in another root.
  if (!found.path.starts_with('/') || ::lstat(found.path.c_str(), &again) != 0 ||
      again.st_dev != found.info.st_dev || again.st_ino != found.info.st_ino) {
    return base::fail(ErrorCode::not_found, kStage,
                      base::printable(full) + " has no place of its own: it was moved or removed");
  }
  return found;
}

Result<base::Fd> open_regular(const FoundFile& found) {
  const std::string name = base::printable(found.path);
  if (!S_ISREG(found.info.st_mode)) {
    const char* what = "not a regular file";
    if (S_ISDIR(found.info.st_mode)) what = "a directory";
    if (S_ISFIFO(found.info.st_mode)) what = "a pipe";
    if (S_ISCHR(found.info.st_mode) || S_ISBLK(found.info.st_mode)) what = "a device";
    return base::fail(ErrorCode::invalid_argument, kStage,
                      name + " is " + what + ": name a regular file");
  }
  // By the descriptor: the name may lead elsewhere by now.
  base::Fd file(
      ::open(link_of(found.file.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return base::fail_os(kStage, errno, "reading " + name);
  return file;
}

Result<void> check_trusted(const FoundFile& found, const std::string& what) {
  if (auto ok = check_file(found, what); !ok) return ok;
  // From the root on, each directory by the one before: what is checked is what leads there.
  base::Fd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  std::string path = "/";
  const std::filesystem::path whole(found.path);
  const std::filesystem::path parts = whole.parent_path().relative_path();
  for (auto part = parts.begin();; ++part) {
    struct stat info{};
    if (!at || ::fstat(at.get(), &info) != 0) {
      return base::fail_os(kStage, errno, "looking at " + base::printable(path));
    }
    const bool last = part == parts.end();
    const auto sticky = last ? base::Sticky::is_open : base::Sticky::is_closed;
    if (auto ok = check_directory(info, path, sticky, what); !ok) return ok;
    if (last) break;
    path += (path.ends_with('/') ? "" : "/") + part->string();
    at.reset(::openat(at.get(), part->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  struct stat there{};
  if (::fstatat(at.get(), whole.filename().c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0 ||
      there.st_ino != found.info.st_ino || there.st_dev != found.info.st_dev) {
    return untrusted(what, "it was replaced while it was looked at: try again");
  }
  return {};
}

Result<std::string> read_all(const FoundFile& found, std::size_t most) {
  auto file = open_regular(found);
  if (!file) return std::unexpected(std::move(file).error());
  const auto too_large = [&] {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      base::printable(found.path) + " is larger than " +
                          std::to_string(most / 1024) + "K: make it smaller");
  };
  if (found.info.st_size > static_cast<off_t>(most)) return too_large();
  std::string text;
  char part[16384];
  while (true) {
    const ssize_t size = ::read(file->get(), part, sizeof part);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return base::fail_os(kStage, errno, "reading " + base::printable(found.path));
    if (size == 0) return text;
    text.append(part, static_cast<std::size_t>(size));
    if (text.size() > most) return too_large();
  }
}

}  // namespace cordon::execution
