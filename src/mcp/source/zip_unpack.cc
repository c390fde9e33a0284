#include "mcp/source/zip_unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "workdir/beneath.h"

namespace cordon::mcp {
namespace {

constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kProgramMode = 0755;

std::unexpected<Error> cannot(int error, const ZipEntry& entry) {
  return base::fail_os("bundle", error, "unpacking " + base::printable(entry.path));
}

Result<void> write_whole(int fd, std::string_view part, const ZipEntry& entry) {
  while (!part.empty()) {
    const ssize_t wrote = ::write(fd, part.data(), part.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return cannot(errno, entry);
    part.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

// The directory that is to have the last name of the path; what is missing on the way is made.
Result<base::Fd> make_parents(int top, const ZipEntry& entry, std::string_view path) {
  base::Fd at = workdir::open_beneath(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!at) return cannot(errno, entry);
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name(path.substr(begin, end - begin));
    begin = end + 1;
    // The mode is set again: the umask must not decide what a server can read.
    const bool made = ::mkdirat(at.get(), name.c_str(), kDirectoryMode) == 0;
    if (!made && errno != EEXIST) return cannot(errno, entry);
    base::Fd next = workdir::open_beneath(at.get(), name.c_str(),
                                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (!next || (made && ::fchmod(next.get(), kDirectoryMode) != 0)) return cannot(errno, entry);
    at = std::move(next);
  }
  return at;
}

Result<void> unpack_file(int top, const ZipEntry& entry, std::string_view file) {
  const std::size_t slash = entry.path.rfind('/');
  const bool nested = slash != std::string::npos;
  const auto parent =
      make_parents(top, entry, nested ? std::string_view(entry.path).substr(0, slash) : "");
  if (!parent) return std::unexpected(parent.error());
  const std::string name = nested ? entry.path.substr(slash + 1) : entry.path;
  const base::Fd out(::openat(parent->get(), name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!out) return cannot(errno, entry);
  auto done = unpack_entry(
      entry, file, [&](std::string_view part) { return write_whole(out.get(), part, entry); });
  if (!done) return done;
  if (::fchmod(out.get(), entry.executable ? kProgramMode : kFileMode) != 0) {
    return cannot(errno, entry);
  }
  return {};
}

}  // namespace

Result<void> unpack_zip(std::string_view archive, std::string_view file, int directory,
                        const ZipLimits& limits) {
  const auto entries = read_zip(archive, file, limits);
  if (!entries) return std::unexpected(entries.error());
  for (const ZipEntry& entry : *entries) {
    if (entry.directory) {
      if (auto made = make_parents(directory, entry, entry.path); !made) {
        return std::unexpected(std::move(made.error()));
      }
      continue;
    }
    if (auto done = unpack_file(directory, entry, file); !done) return done;
  }
  return {};
}

}  // namespace cordon::mcp
