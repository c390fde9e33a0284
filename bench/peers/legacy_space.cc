#include "peers/legacy_space.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>

#include "support/figure.h"

namespace cordon::bench {
namespace {

constexpr const char* kOwn = "/proc/self/ns/mnt";
constexpr const char* kUnified = "/sys/fs/cgroup/unified";

}  // namespace

LegacySpace::LegacySpace() {
  home_ = ::open(kOwn, O_RDONLY | O_CLOEXEC);
  if (home_ < 0 || ::access(kUnified, F_OK) != 0 || ::unshare(CLONE_NEWNS) != 0) return;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::umount2(kUnified, 0) == 0) {
    space_ = ::open(kOwn, O_RDONLY | O_CLOEXEC);
  }
  leave();
}

LegacySpace::~LegacySpace() {
  ::close(space_);
  ::close(home_);
}

void LegacySpace::go(int space) const {
  const auto here = std::filesystem::current_path();
  if (::setns(space, CLONE_NEWNS) != 0) give_up("cannot change the mount namespace");
  std::filesystem::current_path(here);
}

}  // namespace cordon::bench
