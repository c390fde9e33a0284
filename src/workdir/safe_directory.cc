#include "workdir/safe_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "base/trust.h"

namespace cordon::workdir {
namespace {

constexpr const char* kStage = "workdir";
constexpr mode_t kPrivate = 0700;

enum class Place : std::uint8_t { above, own };

std::unexpected<Error> refuse(const std::string& path, const std::string& why) {
  return base::fail(ErrorCode::not_permitted, kStage,
                    "work directories cannot be kept safe below " + base::printable(path) + ": " +
                        why + ": choose another place by --cache DIR");
}

Result<void> check(const struct stat& found, const std::string& path, Place place) {
  if (S_ISLNK(found.st_mode)) {
    return refuse(path, "it is a symbolic link; name the directory that it leads to");
  }
  if (!S_ISDIR(found.st_mode)) return refuse(path, "it is not a directory");
  if (!base::owner_is_trusted(found)) {
    return refuse(path, "it belongs to user " + std::to_string(found.st_uid) +
                            ", neither to you nor to root");
  }
  const auto sticky = place == Place::above ? base::Sticky::is_closed : base::Sticky::is_open;
  if (base::others_may_write(found, sticky)) {
    return refuse(path, "its group or others may write there; take that away (chmod go-w)");
  }
  return {};
}

// O_PATH shows a link as the link it is.
Result<base::Fd> enter(int above, const std::string& name, const std::string& path, Place place) {
  constexpr int kFlags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  base::Fd fd(::openat(above, name.c_str(), kFlags));
  if (!fd && errno == ENOENT) {
    if (::mkdirat(above, name.c_str(), kPrivate) != 0 && errno != EEXIST) {
      return base::fail_os(kStage, errno,
                           "cannot make the directory " + base::printable(path) +
                               " for work directories (--cache DIR chooses another)");
    }
    fd = base::Fd(::openat(above, name.c_str(), kFlags));
  }
  struct stat found{};
  if (!fd || ::fstat(fd.get(), &found) != 0) {
    return base::fail_os(kStage, errno, "cannot open " + base::printable(path));
  }
  if (auto safe = check(found, path, place); !safe) return std::unexpected(safe.error());
  return fd;
}

Result<std::vector<std::string>> names_of(const std::string& path) {
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      "the cache \"" + base::printable(path) +
                          "\" is not an absolute path: write it from / on (--cache DIR)");
  }
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      return base::fail(ErrorCode::invalid_argument, kStage,
                        "the cache " + base::printable(path) +
                            " contains \"..\": name the directory itself (--cache DIR)");
    }
    names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

Result<base::Fd> open_safe_directory(const std::string& path, std::string_view below) {
  auto names = names_of(path);
  if (!names) return std::unexpected(std::move(names.error()));
  if (names->empty()) return refuse("/", "the root itself is no place for a cache");
  names->emplace_back(below);

  base::Fd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat root{};
  if (!at || ::fstat(at.get(), &root) != 0) return base::fail_os(kStage, errno, "cannot open /");
  if (auto safe = check(root, "/", Place::above); !safe) return std::unexpected(safe.error());

  std::string so_far;
  for (std::size_t i = 0; i < names->size(); ++i) {
    so_far += "/" + (*names)[i];
    const Place place = i + 2 < names->size() ? Place::above : Place::own;
    auto next = enter(at.get(), (*names)[i], so_far, place);
    if (!next) return next;
    at = *std::move(next);
  }
  base::Fd readable(::openat(at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!readable) return base::fail_os(kStage, errno, "cannot open " + base::printable(so_far));
  return readable;
}

}  // namespace cordon::workdir
