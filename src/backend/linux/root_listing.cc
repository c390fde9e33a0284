#include "backend/linux/root_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/paths.h"
#include "cordon/secret.h"
#include "plan/default_view.h"

namespace cordon::linux_backend {
namespace {

using plan::RootDirectory;
using plan::RootEntry;

constexpr const char* kStage = "root";
constexpr std::array<std::string_view, 2> kNetworkFiles = {"/etc/hosts", "/etc/resolv.conf"};

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, kStage, std::move(message));
}

base::Fd open2(int directory, const std::string& path, std::uint64_t flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  return base::Fd(
      static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

Result<base::Fd> open_root(const std::string& path) {
  base::Fd root = open2(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
  if (root) return root;
  if (errno == ENOTDIR) return bad("the root " + path + " is not a directory: name one");
  if (errno == ELOOP) {
    return bad("the root " + path +
               " leads through a symbolic link that was put there just now: try again");
  }
  return base::fail_os(kStage, errno, "opening the root " + path);
}

// Something that is going to be mounted.
struct Place {
  std::string path;
  bool file = false;    // on a file; else on a directory
  bool parted = false;  // it cannot lie on anything of the root's
};

std::vector<Place> places_of(const Request& request) {
  std::vector<Place> places;
  for (const Grant& grant : request.grants) {
    const auto target = base::normalise(grant.target.empty() ? grant.source : grant.target);
    if (!target) continue;  // the plan refuses it
    struct stat found{};
    const bool file = grant.kind != Grant::Kind::tmpfs &&
                      ::lstat(grant.source.c_str(), &found) == 0 && !S_ISDIR(found.st_mode);
    places.push_back({.path = *target, .file = file});
  }
  const bool secrets = std::ranges::any_of(request.secrets, [](const Secret& secret) {
    return secret.delivery == Secret::Delivery::file;
  });
  if (secrets) places.push_back({.path = std::string(kSecretsDirectory), .parted = true});
  return places;
}

class Lister {
 public:
  Lister(int root, const std::string& source, std::vector<Place> places)
      : root_(root), places_(std::move(places)) {
    result_.source = source;
  }

  Result<RootDirectory> list() {
    if (auto ok = find_missing(); !ok) return std::unexpected(std::move(ok.error()));
    if (auto ok = list("/"); !ok) return std::unexpected(std::move(ok.error()));
    for (const std::string_view path : kNetworkFiles) {
      const base::Fd file = open_below(std::string(path));
      struct stat found{};
      if (file && ::fstat(file.get(), &found) == 0 && S_ISREG(found.st_mode)) {
        result_.network_files.emplace_back(path);
      }
    }
    return std::move(result_);
  }

 private:
  // The last name may be a link, which is then what is opened.
  [[nodiscard]] base::Fd open_below(const std::string& path) const {
    return open2(root_, path == "/" ? "." : path.substr(1), O_PATH | O_NOFOLLOW,
                 RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  }

  // The places that something can be mounted on are no matter any more.
  Result<void> find_missing() {
    std::vector<Place> missing;
    for (const Place& place : places_) {
      // Inside another one there is nothing of the root.
      const bool covered = std::ranges::any_of(places_, [&](const Place& other) {
        return base::strictly_below(place.path, other.path);
      });
      if (covered) continue;
      const base::Fd found = open_below(place.path);
      struct stat info{};
      if (!found && errno == ELOOP) return link_on_the_way(place.path);
      if (!found && errno == ENOTDIR) {
        return bad("nothing can be shown at " + place.path +
                   ": something on the way is a file of " +
                   "the root; choose another place by --bind SRC:DST");
      }
      if (!found && errno != ENOENT) {
        return base::fail_os(kStage, errno, "looking at " + place.path + " in the root");
      }
      const bool fits = found && ::fstat(found.get(), &info) == 0 &&
                        (place.file ? S_ISREG(info.st_mode) : S_ISDIR(info.st_mode));
      if (!fits || place.parted) missing.push_back(place);
    }
    places_ = std::move(missing);
    return {};
  }

  static std::unexpected<Error> link_on_the_way(const std::string& path) {
    return bad("nothing can be shown at " + path +
               ": the root has a symbolic link on the way; name the place it leads to, by --bind "
               "SRC:DST");
  }

  [[nodiscard]] bool has_to_be_parted(const std::string& path) const {
    return std::ranges::any_of(
        places_, [&](const Place& place) { return base::strictly_below(place.path, path); });
  }

  Result<void> list(const std::string& path) {
    base::Fd directory =
        open2(root_, path == "/" ? "." : path.substr(1), O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
              RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(
        directory ? ::fdopendir(directory.get()) : nullptr, ::closedir);
    if (!stream) return base::fail_os(kStage, errno, "reading " + path + " of the root");
    (void)directory.release();  // the stream's
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* const entry = ::readdir(stream.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > kMostRootEntries) return too_many_parts();
    }
    if (errno != 0) return base::fail_os(kStage, errno, "reading " + path + " of the root");
    std::ranges::sort(names);  // so that the same root gives the same plan
    for (const std::string& name : names) {
      std::string inside = path == "/" ? "" : path;
      inside.append("/").append(name);
      if (auto added = add(::dirfd(stream.get()), name, inside); !added) return added;
    }
    return {};
  }

  [[nodiscard]] std::unexpected<Error> too_many_parts() const {
    const std::string where =
        places_.empty() ? "" : ", because it has no " + places_.front().path + ": make that there";
    return base::fail(ErrorCode::resource_exhausted, kStage,
                      "the root " + result_.source + " would have to be shown in more than " +
                          std::to_string(kMostRootEntries) + " parts" + where);
  }

  Result<void> add(int directory, const std::string& name, const std::string& inside) {
    const bool own = std::ranges::find(plan::kOwnPlaces, inside) != plan::kOwnPlaces.end();
    const bool replaced = std::ranges::find(places_, inside, &Place::path) != places_.end();
    struct stat info{};
    if (own || replaced) return {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // gone meanwhile
      return base::fail_os(kStage, errno, "looking at " + inside + " in the root");
    }
    RootEntry entry{.path = inside};
    if (S_ISDIR(info.st_mode)) {
      if (has_to_be_parted(inside)) return list(inside);
    } else if (S_ISREG(info.st_mode)) {
      entry.kind = RootEntry::Kind::file;
    } else if (S_ISLNK(info.st_mode)) {
      entry.kind = RootEntry::Kind::symlink;
      char target[PATH_MAX];
      const ssize_t size = ::readlinkat(directory, name.c_str(), target, sizeof target);
      if (size < 0) return base::fail_os(kStage, errno, "reading the link " + inside);
      entry.link.assign(target, static_cast<std::size_t>(size));
    } else {
      return {};
    }
    if (result_.entries.size() >= kMostRootEntries) return too_many_parts();
    result_.entries.push_back(std::move(entry));
    return {};
  }

  int root_;
  std::vector<Place> places_;
  RootDirectory result_;
};

// Where the program starts, if that is a place of the root's.
Result<void> check_cwd(const Request& request, int root) {
  const auto cwd = base::normalise(request.cwd);
  if (!cwd) return {};  // the plan refuses it
  const auto at = [&](std::string_view place) { return base::at_or_below(*cwd, place); };
  const bool granted = std::ranges::any_of(request.grants, [&](const Grant& grant) {
    const auto target = base::normalise(grant.target.empty() ? grant.source : grant.target);
    return target && (at(*target) || base::at_or_below(*target, *cwd));
  });
  if (granted || std::ranges::any_of(plan::kOwnPlaces, at)) return {};
  const base::Fd found = open2(root, *cwd, O_PATH | O_DIRECTORY, RESOLVE_IN_ROOT);
  if (found) return {};
  return base::fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::invalid_argument, "chdir",
                    "the working directory " + *cwd + " is no directory of the root " +
                        request.root +
                        ": name one that is, or show one of the host there by --read DIR, --write "
                        "DIR or --bind SRC:DST");
}

}  // namespace

Result<RootDirectory> list_root(const Request& request) {
  auto root = open_root(request.root);
  if (!root) return std::unexpected(std::move(root.error()));
  if (auto ok = check_cwd(request, root->get()); !ok) return std::unexpected(std::move(ok.error()));
  return Lister(root->get(), request.root, places_of(request)).list();
}

base::Fd open_in_root(const std::string& root, const std::string& inside) {
  const base::Fd directory = open2(AT_FDCWD, root, O_PATH | O_DIRECTORY, RESOLVE_NO_SYMLINKS);
  if (!directory) return {};
  return open2(directory.get(), inside, O_PATH, RESOLVE_IN_ROOT);
}

}  // namespace cordon::linux_backend
