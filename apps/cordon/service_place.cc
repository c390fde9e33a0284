#include "service_place.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "plan/sandbox_plan.h"

namespace cordon::app::service {
namespace {

constexpr const char* kStage = "place";
constexpr const char* kSocket = "socket";
constexpr const char* kLock = "lock";
constexpr int kBacklog = 256;

base::Fd open_directory(int at, const char* name) {
  return base::Fd(::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The caller's, and closed to everybody else.
bool is_private(int directory) {
  struct stat found{};
  return ::fstat(directory, &found) == 0 && found.st_uid == ::geteuid() &&
         (found.st_mode & 077) == 0;
}

// `name` in `at`, private; made if `create`.
Result<base::Fd> enter(int at, const std::string& name, const std::string& path,
                       std::string_view what, bool create) {
  if (create && ::mkdirat(at, name.c_str(), 0700) != 0 && errno != EEXIST) {
    return base::fail_os(kStage, errno, concat("making ", path));
  }
  base::Fd directory = open_directory(at, name.c_str());
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", path));
  if (!is_private(directory.get())) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      concat(path, " is not yours alone, so others could pose as your ", what,
                             ": remove it, or make it yours with mode 0700"));
  }
  return directory;
}

struct Top {
  base::Fd directory;
  std::string path;
};

// What $XDG_RUNTIME_DIR names; empty: nothing that can be used.
Top named_top() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime == nullptr || runtime[0] != '/') return {};
  base::Fd directory = open_directory(AT_FDCWD, runtime);
  if (!directory || !is_private(directory.get())) return {};
  return {std::move(directory), runtime};
}

// Below which ours is.
Result<Top> find_top(std::string_view what, bool create) {
  if (Top named = named_top(); named.directory) {
    named.path += "/cordon";
    auto ours = enter(named.directory.get(), "cordon", named.path, what, create);
    if (!ours) return std::unexpected(std::move(ours.error()));
    return Top{*std::move(ours), std::move(named.path)};
  }
  if (::geteuid() != 0) {
    return base::fail(ErrorCode::not_found, kStage,
                      concat("a ", what,
                             " needs a directory of yours alone, and XDG_RUNTIME_DIR names none: "
                             "set it to a directory that you own, with mode 0700"));
  }
  // Shared with what else Cordon keeps there: root's, but not closed.
  const std::string path(plan::kRuntimeDirectory);
  if (create && ::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return base::fail_os(kStage, errno, concat("making ", path));
  }
  base::Fd directory = open_directory(AT_FDCWD, path.c_str());
  if (!directory) return base::fail_os(kStage, errno, concat("opening ", path));
  return Top{std::move(directory), path};
}

// A directory's descriptor stands for its name: no path is too long, and none can be exchanged.
sockaddr_un address_in(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = concat("/proc/self/fd/", std::to_string(directory), "/", kSocket);
  std::ranges::copy(path, std::begin(address.sun_path));
  return address;
}

base::Fd new_socket() { return base::Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }

}  // namespace

Result<Place> Place::open(std::string_view what, std::span<const std::string> names, bool create) {
  auto top = find_top(what, create);
  if (!top) return std::unexpected(std::move(top.error()));
  for (const std::string& name : names) {
    top->path += concat("/", name);
    auto next = enter(top->directory.get(), name, top->path, what, create);
    if (!next) return std::unexpected(std::move(next.error()));
    top->directory = *std::move(next);
  }
  return Place(base::move_up(std::move(top->directory)), std::move(top->path));
}

Result<Place> Place::make(std::string_view what, std::span<const std::string> names) {
  return open(what, names, true);
}

Result<Place> Place::find(std::string_view what, std::span<const std::string> names) {
  return open(what, names, false);
}

Result<std::optional<base::Fd>> Place::lock() const {
  // Never removed: who opened it before would hold a lock that nobody else sees.
  base::Fd file(::openat(directory_.get(), kLock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return base::fail_os(kStage, errno, concat("opening ", path_, "/", kLock));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return base::move_up(std::move(file));
  if (errno == EWOULDBLOCK) return std::nullopt;
  return base::fail_os(kStage, errno, concat("locking ", path_, "/", kLock));
}

Result<base::Fd> Place::listen() const {
  remove_socket();
  base::Fd socket = new_socket();
  const sockaddr_un address = address_in(directory_.get());
  if (!socket ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return base::fail_os(kStage, errno, concat("listening on ", path_, "/", kSocket));
  }
  return base::move_up(std::move(socket));
}

void Place::remove_socket() const { (void)::unlinkat(directory_.get(), kSocket, 0); }

Result<base::Fd> Place::connect() const {
  base::Fd socket = new_socket();
  const sockaddr_un address = address_in(directory_.get());
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) {
      return base::fail(ErrorCode::not_found, kStage,
                        concat("nothing listens on ", path_, "/", kSocket));
    }
    return base::fail_os(kStage, errno, concat("connecting to ", path_, "/", kSocket));
  }
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      peer.uid != ::geteuid()) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      concat(path_, "/", kSocket, " is not served by you: remove it"));
  }
  return base::move_up(std::move(socket));
}

}  // namespace cordon::app::service
