#include "sandbox/life_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "cordon/clock.h"
#include "workdir/safe_directory.h"
#include "workdir/sweep.h"

namespace cordon::sandbox {
namespace {

constexpr Duration kRemovalTime = std::chrono::minutes(1);

}  // namespace

Result<LifeDirectory> LifeDirectory::make(const std::filesystem::path& state,
                                          const std::string& container_id) {
  LifeDirectory made;
  made.above_ = state;
  auto directory = workdir::open_safe_directory(state, container_id);
  if (!directory) return std::unexpected(std::move(directory.error()));
  made.directory_ = *std::move(directory);
  made.state_ = base::Fd(
      ::openat(made.directory_.get(), "..", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.state_) {
    return base::fail_os("state", errno,
                         "cannot open the state directory " + base::printable(state.string()));
  }
  made.path_ = state / container_id;
  return made;
}

Result<void> LifeDirectory::remove() {
  if (path_.empty()) return {};
  auto removed = workdir::remove_directory(state_.get(), path_.filename(), directory_.get(), path_,
                                           {real_clock(), real_clock().now() + kRemovalTime});
  if (!removed) return removed;
  directory_ = {};
  state_ = {};
  path_.clear();
  (void)::rmdir(above_.c_str());  // fails if anything else is in it, as it should
  return {};
}

}  // namespace cordon::sandbox
