#include "backend/gvisor/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "backend/posix/spawn.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

constexpr const char* kStage = "runsc";
constexpr std::size_t kMostOutput = std::size_t{4} << 20;
// runsc and the processes it makes have some 300 descriptors for a small program.
constexpr int kRoom = 511;

struct Pipe {
  base::Fd reader;
  base::Fd writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return base::fail_os(kStage, errno, "making a pipe");
  return Pipe{base::Fd(ends[0]), base::Fd(ends[1])};
}

int milliseconds_until(TimePoint at) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(at - real_clock().now()).count();
  constexpr long kLongest = 60'000;
  return static_cast<int>(std::min(std::max<long>(left, 0), kLongest));
}

// False: end of file.
bool read_some(int fd, std::string& into) {
  std::array<char, 16 * 1024> buffer{};
  const ssize_t size = ::read(fd, buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR || errno == EAGAIN;
  if (into.size() < kMostOutput) into.append(buffer.data(), static_cast<std::size_t>(size));
  return size > 0;
}

Error explain(const posix::ChildPlan& plan) {
  const std::string program = plan.path;
  switch (plan.failed_step) {
    case posix::Step::join_group:
      return base::fail_os("cgroup", plan.failed_errno, "moving " + program + " into its group")
          .error();
    case posix::Step::mount_namespace:
      return base::fail_os(kStage, plan.failed_errno, "making a mount namespace for " + program)
          .error();
    case posix::Step::mount:
      return base::fail_os(
                 kStage, plan.failed_errno,
                 std::string("mounting what is shown at ") + plan.mounts[plan.failed_index].at)
          .error();
    case posix::Step::execute:
      return base::fail_os(kStage, plan.failed_errno, "executing " + program).error();
    default:
      return base::fail_os(kStage, plan.failed_errno,
                           "preparing to execute " + program + " (step " +
                               std::to_string(static_cast<int>(plan.failed_step)) + ")")
          .error();
  }
}

}  // namespace

Result<Running> start(const Start& start) {
  std::vector<const char*> argv;
  argv.reserve(start.argv.size() + 1);
  for (const std::string& word : start.argv) argv.push_back(word.c_str());
  argv.push_back(nullptr);
  const std::array<const char*, 2> environment{
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", nullptr};

  std::vector<posix::MountSetting> mounts;
  mounts.reserve(start.mounts.size());
  for (const Mount& mount : start.mounts) mounts.push_back({mount.tree.get(), mount.at.c_str()});

  posix::ChildPlan plan{};
  plan.path = argv.front();
  plan.argv = argv.data();
  plan.envp = environment.data();
  plan.cwd = "/";
  for (int i = 0; i < 3; ++i) plan.stdio[i] = start.stdio[i];
  plan.join = start.join.data();
  plan.join_count = start.join.size();
  plan.mounts = mounts.data();
  plan.mount_count = mounts.size();
  plan.die_with = start.dies_with_thread ? ::getpid() : 0;
  plan.terminal = start.terminal;
  plan.room_up_to = kRoom;
  posix::Spawned spawned = posix::spawn(plan);
  if (spawned.pid < 0) return base::fail_os(kStage, errno, "starting a process for runsc");
  if (plan.failed_step != posix::Step::none) return std::unexpected(explain(plan));
  return Running{spawned.pid, std::move(spawned.pidfd)};
}

int reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return -1;
  }
  constexpr int kSignalled = 128;
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<Finished> run(std::vector<std::string> argv, Duration patience,
                     const std::function<void()>& tick) {
  constexpr int kTick = 100;  // ms
  const TimePoint until = real_clock().now() + patience;
  auto out = make_pipe();
  if (!out) return std::unexpected(std::move(out.error()));
  auto err = make_pipe();
  if (!err) return std::unexpected(std::move(err.error()));
  const base::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return base::fail_os(kStage, errno, "opening /dev/null");
  const std::string what = argv.front() + " " + (argv.size() > 1 ? argv.back() : "");
  auto running =
      start({.argv = std::move(argv), .stdio = {null.get(), out->writer.get(), err->writer.get()}});
  if (!running) return std::unexpected(std::move(running.error()));
  out->writer.reset();
  err->writer.reset();

  Finished finished;
  bool ended = false;
  bool late = false;
  // Its end counts, not that of its output: something that it left behind may hold the pipes.
  while (!ended) {
    std::array<pollfd, 3> wanted{{{.fd = running->pidfd.get(), .events = POLLIN, .revents = 0},
                                  {.fd = out->reader.get(), .events = POLLIN, .revents = 0},
                                  {.fd = err->reader.get(), .events = POLLIN, .revents = 0}}};
    const int patient = milliseconds_until(until);
    (void)::poll(wanted.data(), wanted.size(), tick ? std::min(patient, kTick) : patient);
    if (tick) tick();
    if (wanted[1].revents != 0 && !read_some(out->reader.get(), finished.out)) out->reader.reset();
    if (wanted[2].revents != 0 && !read_some(err->reader.get(), finished.err)) err->reader.reset();
    ended = wanted[0].revents != 0 && wanted[1].revents == 0 && wanted[2].revents == 0;
    if (!ended && !late && real_clock().now() >= until) {
      late = true;
      (void)::kill(running->pid, SIGKILL);
      out->reader.reset();
      err->reader.reset();
    }
  }
  finished.exit_code = reap(running->pid);
  if (late) {
    return base::fail(ErrorCode::timed_out, kStage, what + " did not end in time and was killed");
  }
  return finished;
}

}  // namespace cordon::gvisor_backend
