#include "image/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/cache_directory.h"
#include "base/errors.h"
#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/workdir.h"
#include "image/unpack.h"
#include "workdir/safe_directory.h"
#include "workdir/sweep.h"

namespace cordon::image {
namespace {

constexpr const char* kStage = "image";
constexpr const char* kRoot = "rootfs";
constexpr mode_t kPrivate = S_IRWXU;
constexpr mode_t kVisible = 0755;  // it is the program's "/"
constexpr auto kSweepTime = std::chrono::seconds(10);
constexpr auto kRemoval = std::chrono::minutes(5);
constexpr int kTries = 1000;

bool is_there(int parent, const std::string& name) {
  struct stat found{};
  return ::fstatat(parent, (name + "/" + kRoot).c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISDIR(found.st_mode);
}

// A directory with a name of its own, locked until it is closed: so the others know that it is no
// leftover.
class Unfinished {
 public:
  Unfinished(int parent, std::string path) : parent_(parent), path_(std::move(path)) {}
  ~Unfinished() {
    if (!directory_ || kept_) return;
    const Clock& clock = real_clock();
    (void)workdir::remove_directory(parent_, name_, directory_.get(), path_ + "/" + name_,
                                    {clock, clock.now() + kRemoval});
  }
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

  Result<void> make() {
    if (!workdir::lock(parent_, LOCK_SH)) return cannot(errno);
    auto made = make_locked();
    (void)workdir::lock(parent_, LOCK_UN);
    return made;
  }
  [[nodiscard]] int get() const { return directory_.get(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  void keep() { kept_ = true; }

 private:
  [[nodiscard]] std::unexpected<Error> cannot(int error) const {
    return base::fail_os(kStage, error, "making a directory in " + path_);
  }

  Result<void> make_locked() {
    const auto now = real_clock().wall_now().time_since_epoch().count();
    for (int tries = 0; tries < kTries; ++tries) {
      name_ = "unpacking-" +
              std::to_string(static_cast<std::uint64_t>(now) + static_cast<std::uint64_t>(tries));
      if (::mkdirat(parent_, name_.c_str(), kPrivate) == 0) {
        directory_ = base::Fd(
            ::openat(parent_, name_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!directory_ || !workdir::lock(directory_.get(), LOCK_EX | LOCK_NB))
          return cannot(errno);
        return {};
      }
      if (errno != EEXIST) return cannot(errno);
    }
    return cannot(EEXIST);
  }

  int parent_;
  std::string path_;
  std::string name_;
  base::Fd directory_;
  bool kept_ = false;
};

}  // namespace

Result<UnpackedImage> unpack_into_cache(const Image& image, std::string cache, Budget budget) {
  if (cache.empty()) {
    auto usual = default_cache();
    if (!usual) return std::unexpected(std::move(usual.error()));
    cache = *std::move(usual);
  }
  auto parent = workdir::open_safe_directory(cache, base::kImagesDirectory);
  if (!parent) return std::unexpected(std::move(parent.error()));
  const std::string path = cache + "/" + std::string(base::kImagesDirectory);
  // The ending tells it from what is swept.
  const std::string name = "sha256-" + image.id + ".image";
  UnpackedImage result{.root = path + "/" + name + "/" + kRoot};
  if (is_there(parent->get(), name)) {
    result.was_there = true;
    return result;
  }
  const Clock& clock = real_clock();
  (void)workdir::sweep(parent->get(), path, {clock, clock.now() + kSweepTime});

  Unfinished unfinished(parent->get(), path);
  if (auto made = unfinished.make(); !made) return std::unexpected(std::move(made.error()));
  const bool made = ::mkdirat(unfinished.get(), kRoot, kVisible) == 0;
  const base::Fd root(
      made ? ::openat(unfinished.get(), kRoot, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
           : -1);
  if (!root || ::fchmod(root.get(), kVisible) != 0) {
    return base::fail_os(kStage, errno, "making a directory in " + path);
  }
  if (auto unpacked = unpack_layers(image, root.get(), budget); !unpacked) {
    return std::unexpected(std::move(unpacked.error()));
  }
  result.skipped = budget.skipped;
  // Once it has its name nobody looks at it again, also after the power was cut.
  if (::syncfs(root.get()) != 0)
    return base::fail_os(kStage, errno, "writing the image to the disk");
  if (::renameat2(parent->get(), unfinished.name().c_str(), parent->get(), name.c_str(),
                  RENAME_NOREPLACE) == 0) {
    unfinished.keep();
    (void)::fsync(parent->get());
    return result;
  }
  if (errno == EEXIST && is_there(parent->get(), name)) return result;  // another was faster
  return base::fail_os(kStage, errno, "keeping the image as " + path + "/" + name);
}

}  // namespace cordon::image
