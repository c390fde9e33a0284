#include "sandbox_unpack.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "workdir/beneath.h"
#include "workdir/copy_file.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "cp";

std::unexpected<Error> outside(const std::string& path) {
  return base::fail(ErrorCode::not_permitted, kStage,
                    concat("the sandbox wanted '", path, "' written, which was not asked for"));
}

// The directory that the last name of `path` is in.
base::Fd parent_of(int directory, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : path.substr(0, slash);
  return workdir::open_beneath(directory, parent.c_str(),
                               O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::unexpected<Error> Unpacker::cannot(int error, const std::string& path) const {
  return base::fail_os(kStage, error, concat("writing ", name_, "/", path));
}

Unpacker::Unpacker(base::Fd directory, std::string name, std::string from, std::string to)
    : directory_(std::move(directory)),
      name_(std::move(name)),
      from_(std::move(from)),
      to_(std::move(to)),
      reader_({.entry = [this](const TarEntry& e) { return entry(e); },
               .content =
                   [this](std::string_view part) {
                     auto written = write_all(file_.get(), part);
                     if (written) return written;
                     return Result<void>(cannot(written.error().os_error, file_path_));
                   },
               .end = [this]() -> Result<void> {
                 file_.reset();
                 return {};
               }}) {}

Result<std::string> Unpacker::renamed(const std::string& path) const {
  std::string result;
  std::size_t index = 0;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") {
      if (at == 1) return outside(path);  // absolute
      continue;
    }
    if (name == "..") return outside(path);
    if (index++ == 0) {
      if (name != from_) return outside(path);
      result = to_;
    } else {
      result += concat("/", name);
    }
  }
  if (index == 0) return outside(path);
  return result;
}

Result<void> Unpacker::entry(const TarEntry& entry) {
  auto path = renamed(entry.path);
  if (!path) return std::unexpected(std::move(path.error()));
  ++entries_;
  return make(entry, *path);
}

Result<void> Unpacker::make(const TarEntry& entry, const std::string& path) {
  if (entry.type == TarEntry::Type::file) return open_file(entry, path);
  if (entry.type == TarEntry::Type::other) {
    ++skipped_;
    return {};
  }
  if (entry.type == TarEntry::Type::hard_link) {
    auto from = renamed(entry.target);
    if (!from) return std::unexpected(std::move(from.error()));
    return copy(*from, path);
  }
  const base::Fd parent = parent_of(directory_.get(), path);
  if (!parent) return cannot(errno, path);
  const std::string name = last_name(path);
  const int made = entry.type == TarEntry::Type::directory
                       ? ::mkdirat(parent.get(), name.c_str(), 0700 | (entry.mode & 0077U))
                       : ::symlinkat(entry.target.c_str(), parent.get(), name.c_str());
  if (made != 0) return cannot(errno, path);
  return {};
}

Result<void> Unpacker::open_file(const TarEntry& entry, const std::string& path) {
  const base::Fd parent = parent_of(directory_.get(), path);
  if (!parent) return cannot(errno, path);
  file_ = base::Fd(::openat(parent.get(), last_name(path).c_str(),
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                            0600 | (entry.mode & 0177U)));
  if (!file_) return cannot(errno, path);
  file_path_ = path;
  return {};
}

Result<void> Unpacker::copy(const std::string& from, const std::string& to) {
  const base::Fd source = workdir::open_beneath(directory_.get(), from.c_str(),
                                                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat found{};
  if (!source || ::fstat(source.get(), &found) != 0) return cannot(errno, to);
  if (!S_ISREG(found.st_mode)) return outside(to);
  const TarEntry like{.path = {}, .mode = found.st_mode & 0777U};
  if (auto opened = open_file(like, to); !opened) return opened;
  const int copied =
      workdir::copy_file(source.get(), file_.get(), static_cast<std::uint64_t>(found.st_size));
  file_.reset();
  if (copied != 0) return cannot(copied, to);
  return {};
}

Result<void> Unpacker::finish() const {
  if (reader_.complete() && entries_ > 0) return {};
  return base::fail(ErrorCode::system, kStage, "the copy is not whole: the archive ended early");
}

}  // namespace cordon::app::sandbox
