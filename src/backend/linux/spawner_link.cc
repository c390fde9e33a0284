#include "backend/linux/spawner_link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "backend/linux/probe_files.h"
#include "backend/linux/script_message.h"
#include "backend/linux/spawner_image.h"
#include "backend/posix/spawn.h"
#include "base/errors.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace cordon::linux_backend {
namespace {

using base::fail;
using base::fail_os;

constexpr const char* kWhat = "starting the spawner";

// Sealed: nobody can change the program between now and any later start.
Result<base::Fd> make_image() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  base::Fd file(::memfd_create("cordon-spawner", kFlags | MFD_EXEC));
  if (!file && errno == EINVAL) file = base::Fd(::memfd_create("cordon-spawner", kFlags));
  if (!file) return fail_os("spawner", errno, kWhat);
  std::span<const char> rest = spawner_image();
  while (!rest.empty()) {
    const ssize_t n = ::write(file.get(), rest.data(), rest.size());
    if (n <= 0) return fail_os("spawner", errno, kWhat);
    rest = rest.subspan(static_cast<std::size_t>(n));
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) !=
      0) {
    return fail_os("spawner", errno, kWhat);
  }
  return file;
}

int count_filters(pid_t pid) {
  constexpr std::string_view kField = "Seccomp_filters:";
  const auto status = read_small_file(("/proc/" + std::to_string(pid) + "/status").c_str());
  const std::size_t at = status ? status->find(kField) : std::string::npos;
  return at == std::string::npos ? 0 : std::atoi(status->c_str() + at + kField.size());
}

}  // namespace

SpawnerLink::~SpawnerLink() {
  if (ahead_.valid()) (void)start();
  stop();
}

void SpawnerLink::retire() {
  const std::lock_guard lock(mutex_);
  socket_.reset();
}

void SpawnerLink::stop() {
  socket_.reset();  // it ends when nobody can ask it for anything
  if (pid_ < 0) return;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

// On the keeper's thread.
Result<SpawnerLink::Started> SpawnerLink::start_here() {
  auto image = make_image();
  if (!image) return std::unexpected(std::move(image.error()));
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail_os("spawner", errno, kWhat);
  }
  base::Fd ours = base::move_up(base::Fd(pair[0]));
  const base::Fd theirs(pair[1]);

  // The image is the spawner's stdin while it starts: the one descriptor that survives its way to
  // exec and has a name.
  const char* argv[] = {"cordon-spawner", nullptr};
  const char* envp[] = {nullptr};
  posix::ChildPlan plan{};
  plan.path = "/proc/self/fd/0";
  plan.argv = argv;
  plan.envp = envp;
  plan.cwd = "/";
  plan.stdio[0] = image->get();
  plan.stdio[spawner::kControlFd] = theirs.get();
  plan.stdio[2] = theirs.get();

  const posix::Spawned spawned = posix::spawn(plan);
  const int error = errno;
  if (spawned.pid < 0) return fail_os("spawner", error, kWhat);
  if (plan.failed_step != posix::Step::none) {
    return fail_os("spawner", plan.failed_errno,
                   std::string(kWhat) + " (is /proc mounted, and may memory files be executed?)");
  }
  return Started{std::move(ours), spawned.pid, count_filters(spawned.pid)};
}

void SpawnerLink::start_ahead() {
  const auto task = std::make_shared<std::packaged_task<Result<Started>()>>(&start_here);
  ahead_ = task->get_future();
  keeper_.post([task] { (*task)(); });
}

Result<void> SpawnerLink::start() {
  std::optional<Result<Started>> started;
  if (ahead_.valid()) {
    started = ahead_.get();
  } else {
    keeper_.run([&] { started = start_here(); });
  }
  if (!*started) return std::unexpected(std::move(started->error()));
  socket_ = std::move((*started)->socket);
  pid_ = (*started)->pid;
  surroundings_.filters = (*started)->filters;
  return {};
}

SpawnerLink::Surroundings SpawnerLink::surroundings() {
  const std::lock_guard lock(mutex_);
  return surroundings_;
}

Result<void> SpawnerLink::send(ScriptBuilder& script) {
  const std::vector<char> message = script.finish();
  if (message.empty()) {
    return fail(ErrorCode::invalid_argument, "set-up", "there are too many grants for one run");
  }
  const std::lock_guard lock(mutex_);
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!socket_) {
      if (auto started = start(); !started) return started;
    }
    if (send_script(socket_.get(), message, script.fds())) return {};
    const int error = errno;
    if (error != EPIPE && error != ECONNRESET) {
      return fail_os("spawner", error, "sending a script to the spawner");
    }
    stop();
  }
  return fail(ErrorCode::system, "spawner", "the spawner ends as soon as it is started");
}

}  // namespace cordon::linux_backend
