#include "image/layer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "cordon/clock.h"
#include "workdir/beneath.h"
#include "workdir/directory_reader.h"
#include "workdir/remove_tree.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr std::string_view kWhiteout = ".wh.";
constexpr std::string_view kOpaque = ".wh..wh..opq";
constexpr std::string_view kMetadata = ".wh..wh.";  // of a file system that made the image
constexpr mode_t kDirectory = 0755;
constexpr auto kRemoval = std::chrono::minutes(5);

std::unexpected<Error> wrong(const std::string& path, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, kStage,
                    "a layer of the image has " + base::printable(path) + ", " + std::string(why) +
                        ": nothing was unpacked; do not use this image");
}

std::unexpected<Error> cannot(int error, const std::string& path) {
  if (error == ELOOP || error == EXDEV || error == ENOTDIR) {
    return wrong(path, "which leads through a link or a file");
  }
  return base::fail_os(kStage, error, "unpacking " + base::printable(path) + " of the image");
}

// "./a//b/" → "a/b"; empty: the root itself. Error: it leads out.
Result<std::string> checked(const std::string& path) {
  if (path.starts_with('/')) return wrong(path, "which is absolute");
  if (path.find('\0') != std::string::npos) return wrong(path, "which has a NUL byte");
  std::string result;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string name = path.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") return wrong(path, "which leads out of it");
    if (!result.empty()) result += '/';
    result += name;
  }
  return result;
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string above(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

base::Fd open_directory(int directory, const std::string& path) {
  return workdir::open_beneath(directory, path.empty() ? "." : path.c_str(),
                               O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Layer::Layer(int root, Budget& budget)
    : root_(root),
      budget_(budget),
      reader_({.entry = [this](const TarEntry& e) { return entry(e); },
               .content = [this](std::string_view part) { return content(part); },
               .end = [this] { return end(); }}) {}

Result<void> Layer::feed(std::string_view bytes) {
  budget_.bytes += bytes.size();
  if (budget_.bytes > budget_.most_bytes) {
    return base::fail(ErrorCode::resource_exhausted, kStage,
                      "the image is larger than " + std::to_string(budget_.most_bytes) +
                          " bytes when it is unpacked: nothing was kept of it");
  }
  return reader_.feed(bytes);
}

Result<base::Fd> Layer::parent_of(const std::string& path) {
  const std::string parent = above(path);
  base::Fd found = open_directory(root_, parent);
  if (found) return found;
  if (errno != ENOENT) return cannot(errno, path);
  base::Fd at = open_directory(root_, "");
  if (!at) return cannot(errno, path);
  for (std::size_t begin = 0; begin < parent.size();) {
    const std::size_t end = std::min(parent.find('/', begin), parent.size());
    const std::string name = parent.substr(begin, end - begin);
    begin = end + 1;
    const bool made = ::mkdirat(at.get(), name.c_str(), kDirectory) == 0;
    if (!made && errno != EEXIST) return cannot(errno, path);
    if (made) {
      if (auto counted = count_entry(); !counted)
        return std::unexpected(std::move(counted.error()));
    }
    base::Fd next = open_directory(at.get(), name);
    if (!next || (made && ::fchmod(next.get(), kDirectory) != 0)) return cannot(errno, path);
    at = std::move(next);
  }
  return at;
}

Result<void> Layer::remove(int parent, const std::string& name, const std::string& path) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return cannot(errno, path);
  const base::Fd directory = workdir::open_to_empty(parent, name.c_str());
  if (!directory) return cannot(errno, path);
  const Clock& clock = real_clock();
  auto emptied = workdir::empty_directory(directory.get(), path, {clock, clock.now() + kRemoval});
  if (!emptied) return emptied;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) != 0) return cannot(errno, path);
  return {};
}

// Directories on the way count, too: the name of one entry can make thousands.
Result<void> Layer::count_entry() {
  if (++budget_.entries <= budget_.most_entries) return {};
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    "the image has more than " + std::to_string(budget_.most_entries) +
                        " files: nothing was kept of it");
}

Result<void> Layer::note(const std::string& path) {
  for (std::string one = path; !one.empty(); one = above(one)) {
    if (!made_.insert(one).second) return {};
    named_ += one.size();
  }
  if (named_ <= budget_.most_names) return {};
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    "the names of a layer's files take more than " +
                        std::to_string(budget_.most_names) + " bytes: nothing was kept of it");
}

Result<void> Layer::entry(const TarEntry& entry) {
  if (auto counted = count_entry(); !counted) return counted;
  auto path = checked(entry.path);
  if (!path) return std::unexpected(std::move(path.error()));
  if (path->empty()) {
    if (entry.type == TarEntry::Type::directory) return {};
    return wrong(entry.path, "which would be in place of the root");
  }
  auto parent = parent_of(*path);
  if (!parent) return std::unexpected(std::move(parent.error()));
  const std::string name = last_name(*path);
  if (name.starts_with(kWhiteout)) return whiteout(parent->get(), above(*path), name);
  if (auto noted = note(*path); !noted) return noted;
  return make(entry, parent->get(), *path);
}

Result<void> Layer::whiteout(int parent, const std::string& directory, const std::string& name) {
  const std::string prefix = directory.empty() ? "" : directory + "/";
  if (name == kOpaque) {
    // What this layer has put there itself stays.
    std::vector<std::string> names;
    workdir::DirectoryReader reader(parent);
    while (const auto found = reader.next()) names.emplace_back(found->name);
    if (reader.error() != 0) return cannot(reader.error(), directory);
    for (const std::string& old : names) {
      if (made_.contains(prefix + old)) continue;
      if (auto removed = remove(parent, old, prefix + old); !removed) return removed;
    }
    return {};
  }
  if (name.starts_with(kMetadata)) return {};
  const std::string hidden = name.substr(kWhiteout.size());
  if (hidden.empty() || hidden == "." || hidden == "..") {
    return wrong(prefix + name, "which hides no file");
  }
  if (made_.contains(prefix + hidden)) return {};
  return remove(parent, hidden, prefix + hidden);
}

Result<void> Layer::make_directory(const TarEntry& entry, int parent, const std::string& path) {
  const std::string name = last_name(path);
  struct stat found{};
  const bool there = ::fstatat(parent, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (there && !S_ISDIR(found.st_mode)) {
    if (auto removed = remove(parent, name, path); !removed) return removed;
  }
  if (::mkdirat(parent, name.c_str(), S_IRWXU) != 0 && errno != EEXIST) return cannot(errno, path);
  const base::Fd made = open_directory(parent, name);
  // Its owner can always go on in it.
  if (!made || ::fchmod(made.get(), S_IRWXU | entry.mode) != 0) return cannot(errno, path);
  return {};
}

Result<void> Layer::make(const TarEntry& entry, int parent, const std::string& path) {
  using Type = TarEntry::Type;
  if (entry.type == Type::directory) return make_directory(entry, parent, path);
  const std::string name = last_name(path);
  if (entry.type == Type::hard_link) {
    auto from = checked(entry.target);
    if (!from) return std::unexpected(std::move(from.error()));
    if (from->empty() || *from == path) return wrong(path, "a hard link to no other file");
    const base::Fd source = open_directory(root_, above(*from));
    if (!source) return cannot(errno, *from);
    if (auto removed = remove(parent, name, path); !removed) return removed;
    if (::linkat(source.get(), last_name(*from).c_str(), parent, name.c_str(), 0) != 0) {
      if (errno == EPERM || errno == ENOENT) return wrong(path, "a hard link to no file");
      return cannot(errno, path);
    }
    return {};
  }
  if (auto removed = remove(parent, name, path); !removed) return removed;
  if (entry.type == Type::other) {
    ++budget_.skipped;
    return {};
  }
  if (entry.type == Type::link) {
    if (::symlinkat(entry.target.c_str(), parent, name.c_str()) != 0) return cannot(errno, path);
    return {};
  }
  file_ =
      base::Fd(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                        S_IRUSR | S_IWUSR));
  if (!file_) return cannot(errno, path);
  file_mode_ = S_IRUSR | entry.mode;
  file_path_ = path;
  return {};
}

Result<void> Layer::content(std::string_view part) {
  if (!file_) return {};  // of a whiteout
  while (!part.empty()) {
    const ssize_t size = ::write(file_.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return cannot(errno, file_path_);
    part.remove_prefix(static_cast<std::size_t>(size));
  }
  return {};
}

Result<void> Layer::end() {
  if (!file_) return {};
  if (::fchmod(file_.get(), file_mode_) != 0) return cannot(errno, file_path_);
  file_.reset();
  return {};
}

}  // namespace cordon::image
