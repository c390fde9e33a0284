#include "execution/live_runs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/errors.h"
#include "base/sha256.h"
#include "base/trust.h"

namespace cordon::execution {
namespace {

constexpr const char* kStage = "live runs";
// More would be no limit, and a long search for a free slot.
constexpr std::uint64_t kMostSlots = 4096;

base::Fd open_directory(int at, const char* name) {
  return base::Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// `name` below `at`, made if it is missing.
base::Fd enter_directory(int at, const std::string& name) {
  if (::mkdirat(at, name.c_str(), 0700) != 0 && errno != EEXIST) return {};
  return open_directory(at, name.c_str());
}

std::unexpected<Error> cannot(const std::string& what, int error) {
  return base::fail_os(
      kStage, error, what + ", where it is counted how many programs the policy lets run at once");
}

std::string group_of(std::string_view name) {
  constexpr std::size_t kDigits = 32;  // of 64: enough that two policies never share one
  return base::to_hex(base::sha256(name)).substr(0, kDigits);
}

}  // namespace

std::string LiveRuns::usual_directory() {
  if (::geteuid() == 0) return "/run/cordon/live";
  if (const char* runtime = std::getenv("XDG_RUNTIME_DIR");
      runtime != nullptr && runtime[0] == '/') {
    return std::string(runtime) + "/cordon/live";
  }
  return "/tmp/cordon-" + std::to_string(::geteuid()) + "/live";
}

Result<LiveRuns> LiveRuns::open(const std::string& directory) {
  base::Fd at = open_directory(AT_FDCWD, "/");
  for (std::size_t begin = 1; at && begin < directory.size();) {
    const std::size_t end = std::min(directory.find('/', begin), directory.size());
    at = enter_directory(at.get(), directory.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!at) return cannot("opening " + directory, errno);
  struct stat found{};
  if (::fstat(at.get(), &found) != 0) return cannot("looking at " + directory, errno);
  if (found.st_uid != ::geteuid() || base::others_may_write(found)) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      directory +
                          " is not yours alone, so others could hold up your runs: remove "
                          "it, or make it yours with mode 0700");
  }
  return LiveRuns(std::move(at), directory);
}

Result<LiveRun> LiveRuns::enter(std::string_view name, std::uint64_t most) const {
  const std::string group = group_of(name);
  const std::string place = path_ + "/" + group;
  const base::Fd slots = enter_directory(directory_.get(), group);
  if (!slots) return cannot("opening " + place, errno);
  for (std::uint64_t slot = 0; slot < std::min(most, kMostSlots); ++slot) {
    const std::string file = std::to_string(slot);
    // Never removed: who opened it before it is removed would hold a lock that nobody else sees.
    base::Fd lock(
        ::openat(slots.get(), file.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!lock) return cannot("opening a slot in " + place, errno);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return LiveRun(base::move_up(std::move(lock)));
    if (errno != EWOULDBLOCK) return cannot("locking a slot in " + place, errno);
  }
  return base::fail(ErrorCode::resource_exhausted, kStage,
                    "as many programs run as the policy allows at once (" + std::to_string(most) +
                        "): wait until one of them has ended");
}

}  // namespace cordon::execution
