#include "backend/linux/identity.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "backend/linux/user_namespace.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using base::fail_os;

std::string in_runtime_directory(const char* name) {
  return std::string(plan::kRuntimeDirectory) + name;
}

}  // namespace

// A lock on one byte of a file is given back by the kernel, whatever becomes of us.
Result<void> Identities::lock_id(RunIdentity& identity) {
  const std::string path = in_runtime_directory("/ids");
  base::Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) {
    return fail_os("identity", errno,
                   "opening " + path + ", which keeps two runs from using the same user id");
  }
  const auto begin = static_cast<std::uint32_t>(::getpid()) * 16;
  for (std::uint32_t i = 0; i < kRunIds; ++i) {
    const std::uint32_t slot = (begin + i) % kRunIds;
    struct flock byte{};
    byte.l_type = F_WRLCK;
    byte.l_whence = SEEK_SET;
    byte.l_start = slot;
    byte.l_len = 1;
    if (::fcntl(file.get(), F_OFD_SETLK, &byte) == 0) {
      identity.host = {kFirstRunId + slot, kFirstRunId + slot};
      identity.lock = base::move_up(std::move(file));
      return {};
    }
    if (errno != EAGAIN && errno != EACCES) {
      return fail_os("identity", errno, "locking a user id in " + path);
    }
  }
  return base::fail(ErrorCode::resource_exhausted, "identity",
                    "all " + std::to_string(kRunIds) + " user ids for runs are in use");
}

Result<std::unique_ptr<RunIdentity>> Identities::take(const plan::Identity& wanted) {
  // Even if it is not needed now: what it is hidden under has to be there.
  const std::string folder = in_runtime_directory("");
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail_os("identity", errno, "making " + folder + ", where the user ids in use are kept");
  }
  const User inside{wanted.uid, wanted.gid};
  if (!wanted.host) {
    const std::lock_guard lock(mutex_);
    if (!free_.empty() && free_.back()->inside == inside) {
      auto again = std::move(free_.back());
      free_.pop_back();
      return again;
    }
  }
  auto made = std::make_unique<RunIdentity>();
  made->inside = inside;
  if (wanted.host) {
    made->host = *wanted.host;
  } else if (auto locked = lock_id(*made); !locked) {
    return std::unexpected(std::move(locked.error()));
  }
  auto space = make_user_namespace(made->inside, made->host);
  if (!space) return std::unexpected(std::move(space.error()));
  made->user_namespace = std::move(*space);
  return made;
}

Result<int> Identities::mount_map(RunIdentity& identity, const User& caller) {
  if (!identity.mount_map) {
    auto made = make_user_namespace(caller, identity.host);
    if (!made) return std::unexpected(std::move(made.error()));
    identity.mount_map = std::move(*made);
  }
  return identity.mount_map.get();
}

void Identities::give_back(std::unique_ptr<RunIdentity> identity) {
  if (!identity || !identity->lock) return;
  constexpr std::size_t kKept = 64;
  const std::lock_guard lock(mutex_);
  if (free_.size() < kKept) free_.push_back(std::move(identity));
}

}  // namespace cordon::linux_backend
