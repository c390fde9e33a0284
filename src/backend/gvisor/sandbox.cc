#include "backend/gvisor/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/json/parse.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_names.h"
#include "backend/linux/probe_files.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

constexpr const char* kStage = "runsc";
constexpr int kSignalled = 128;

base::Fd open_pidfd(pid_t pid) {
  if (pid <= 0) return {};
  return base::move_up(base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
}

void kill_by(const base::Fd& pidfd) {
  if (pidfd) (void)::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGKILL, nullptr, 0);
}

Duration duration_of(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

bool is_over(const base::Fd& pidfd) {
  pollfd end{.fd = pidfd.get(), .events = POLLIN, .revents = 0};
  return !pidfd || ::poll(&end, 1, 0) != 0;
}

pid_t number(const boost::json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  if (value == nullptr || !value->is_int64()) return -1;
  return static_cast<pid_t>(value->get_int64());
}

// Between having made a sandbox and opening the image, runsc writes a pid. It cannot open this for
// that before somebody reads from it.
std::string gate_of(const RunDirectory& directory) { return directory.bundle() + "/gate"; }

// Changes of the state file only wake us: what is in it decides.
void drain(int watch) {
  std::array<char, 4096> events{};
  while (::read(watch, events.data(), events.size()) > 0) {
  }
}

// In the group, or ended. The kernel takes a process out of its groups a little before it tells of
// its end.
bool is_inside(const linux_backend::Cgroup& group, pid_t pid) {
  constexpr int kLooks = 100;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 2'000'000};
  const std::string process = "/proc/" + std::to_string(pid);
  for (int look = 0; look < kLooks; ++look) {
    const auto groups = linux_backend::read_small_file((process + "/cgroup").c_str());
    if (!groups || groups->empty() || group.contains(*groups)) return true;
    const auto text = linux_backend::read_small_file((process + "/stat").c_str());
    const auto stat = text ? linux_backend::parse_proc_stat(*text) : std::nullopt;
    if (!stat || stat->state == 'Z' || stat->state == 'X') return true;
    (void)::nanosleep(&kPause, nullptr);
  }
  return false;
}

}  // namespace

std::optional<ContainerState> parse_state(std::string_view text) {
  boost::system::error_code failed;
  const boost::json::value all = boost::json::parse({text.data(), text.size()}, failed);
  const auto* object = failed ? nullptr : all.if_object();
  if (object == nullptr) return std::nullopt;
  ContainerState state;
  const auto* status = object->if_contains("status");
  if (status == nullptr || !status->is_string()) return std::nullopt;
  state.status = std::string(status->get_string());
  state.gofer = number(*object, "goferPid");
  const auto* sandbox = object->if_contains("sandbox");
  if (sandbox != nullptr && sandbox->is_object()) {
    state.sandbox = number(sandbox->get_object(), "pid");
  }
  return state;
}

Result<std::shared_ptr<Sandbox>> Sandbox::start(Threads& threads, Ask ask) {
  std::shared_ptr<Sandbox> made(new Sandbox);
  made->runsc_ = std::move(ask.runsc);
  made->directory_ = std::move(ask.directory);
  made->id_ = std::move(ask.id);
  made->group_ = std::move(ask.group);
  if (auto ok = made->prepare_group(); !ok) return std::unexpected(std::move(ok.error()));

  base::Fd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch || ::inotify_add_watch(watch.get(), made->directory_.state().c_str(),
                                    IN_CLOSE_WRITE | IN_MOVED_TO) < 0) {
    return base::fail_os(kStage, errno, "watching " + made->directory_.state());
  }
  auto start = made->prepare_start(ask);
  if (!start) return std::unexpected(std::move(start.error()));
  Result<Running> running;
  threads.parent().run([&] { running = gvisor_backend::start(*start); });
  if (!running) return std::unexpected(std::move(running.error()));
  made->pid_ = running->pid;
  made->pidfd_ = std::move(running->pidfd);
  base::Fd gate;  // open until runsc has written to it
  if (ask.image) {
    if (auto whole = ask.image->verify(); !whole) return std::unexpected(std::move(whole.error()));
    gate = base::Fd(::open(gate_of(made->directory_).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (!gate) return base::fail_os(kStage, errno, "letting runsc go on");
  }
  const TimePoint now = real_clock().now();
  const TimePoint until =
      ask.patience > TimePoint::max() - now ? TimePoint::max() : now + ask.patience;
  auto begun = made->wait_until_begun(watch.get(), until);
  threads.leave(std::move(watch));
  if (!begun) return std::unexpected(std::move(begun.error()));
  return made;
}

Result<Start> Sandbox::prepare_start(const Ask& ask) const {
  Start start{.argv = runsc_.command(directory_.state(), directory_.log()),
              .stdio = {ask.stdio[0], ask.stdio[1], ask.stdio[2]},
              .join = join_,
              .mounts = ask.mounts,
              .dies_with_thread = true};
  start.argv.emplace_back(ask.image ? "restore" : "run");
  start.argv.push_back("-bundle=" + directory_.bundle());
  if (ask.image) {
    const std::string at = directory_.bundle() + "/image";
    if (auto shown = ask.image->show(at); !shown) return std::unexpected(std::move(shown.error()));
    const std::string gate = gate_of(directory_);
    if (::mkfifo(gate.c_str(), 0600) != 0) return base::fail_os(kStage, errno, "making " + gate);
    start.argv.push_back("-image-path=" + at);
    start.argv.push_back("-pid-file=" + gate);
  }
  start.argv.push_back(id_);
  return start;
}

Result<void> Sandbox::prepare_group() {
  if (!group_) return {};
  join_ = group_->join_fds();
  for (const int fd : group_->join_each_fds()) join_.push_back(fd);
  if (group_->clone_fd() >= 0) {
    procs_ = base::Fd(::openat(group_->clone_fd(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
    if (!procs_) return base::fail_os("cgroup", errno, "opening cgroup.procs of the group");
    join_.push_back(procs_.get());
  }
  group_->open_counters();
  return {};
}

Result<void> Sandbox::wait_until_begun(int watch, TimePoint until) {
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - real_clock().now()).count();
    constexpr long kLongest = 60'000;
    std::array<pollfd, 2> wanted{{{.fd = pidfd_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = watch, .events = POLLIN, .revents = 0}}};
    (void)::poll(wanted.data(), wanted.size(),
                 static_cast<int>(std::min(std::max<long>(left, 0), kLongest)));
    if (wanted[1].revents != 0) drain(watch);
    auto begun = has_begun();
    if (!begun) return std::unexpected(std::move(begun.error()));
    if (*begun) return {};
    if (wanted[0].revents != 0) {
      // Either it never began, and runsc has said why, or it was a short one.
      const std::string error = said();
      if (error.empty()) return {};
      return base::fail(ErrorCode::system, kStage, error);
    }
    if (real_clock().now() >= until) {
      return base::fail(ErrorCode::timed_out, kStage,
                        "runsc did not begin with the program in time; its log says: " + said());
    }
  }
}

Result<bool> Sandbox::has_begun() {
  const std::string file = directory_.state() + "/" + id_ + "_sandbox:" + id_ + ".state";
  // All of it: what the program was given is in it, too.
  const auto text = linux_backend::read_file(AT_FDCWD, file.c_str());
  const auto state = text ? parse_state(*text) : std::nullopt;
  if (!state || state->status != "running") return false;
  kernel_pid_ = state->sandbox;
  sandbox_ = open_pidfd(state->sandbox);
  gofer_ = open_pidfd(state->gofer);
  if (auto inside = check_groups(*state); !inside) {
    return std::unexpected(std::move(inside.error()));
  }
  return true;
}

Result<void> Sandbox::check_groups(const ContainerState& state) const {
  if (!group_) return {};
  const std::pair<pid_t, const char*> all[] = {
      {pid_, "runsc"}, {state.sandbox, "its sandbox"}, {state.gofer, "its gofer"}};
  for (const auto& [pid, name] : all) {
    if (is_inside(*group_, pid)) continue;
    return base::fail(ErrorCode::limit_not_applied, "cgroup",
                      std::string(name) +
                          " is not in the control group that it was started in, so its limits "
                          "would not hold; it was ended");
  }
  return {};
}

std::string Sandbox::said() const {
  const auto log = linux_backend::read_small_file(directory_.log().c_str());
  return log ? last_error(*log) : "";
}

bool Sandbox::running() const { return !is_over(pidfd_); }

std::string Sandbox::failure() {
  const std::lock_guard lock(mutex_);
  if (!end_ || killed_ || end_->checkpointed) return {};
  if (end_->killed) return "runsc was killed by signal " + std::to_string(end_->code - kSignalled);
  return end_->error.empty() ? "" : "runsc failed: " + end_->error;
}

void Sandbox::kill() {
  {
    const std::lock_guard lock(mutex_);
    if (!is_over(pidfd_)) killed_ = true;
  }
  if (group_) group_->kill();
  const std::lock_guard lock(mutex_);
  if (!end_ && pid_ > 0) (void)::kill(pid_, SIGKILL);  // not reaped, so it is still ours
  kill_by(sandbox_);
  kill_by(gofer_);
}

std::optional<Sandbox::End> Sandbox::ended() {
  {
    const std::lock_guard lock(mutex_);
    if (end_) return end_;
    if (!is_over(pidfd_)) return std::nullopt;
  }
  kill();  // what is left
  const std::lock_guard lock(mutex_);
  int status = 0;
  rusage used{};
  while (::wait4(pid_, &status, 0, &used) < 0 && errno == EINTR) {
  }
  End end;
  end.cpu_user = duration_of(used.ru_utime);
  end.cpu_system = duration_of(used.ru_stime);
  end.killed = WIFSIGNALED(status);
  end.code = end.killed ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
  if (end.code >= kSignalled && !end.killed) end.error = said();
  end.checkpointed = checkpointed_;
  end_ = end;
  return end_;
}

Sandbox::~Sandbox() {
  if (pid_ <= 0) return;
  kill();
  const std::lock_guard lock(mutex_);
  if (!end_) (void)reap(pid_);
}

std::vector<std::string> Sandbox::command_line(std::vector<std::string> words,
                                               const std::string& log) const {
  auto all = runsc_.command(directory_.state(), log);
  for (std::string& word : words) all.push_back(std::move(word));
  all.push_back(id_);
  return all;
}

Result<Finished> Sandbox::command(std::vector<std::string> words, Duration patience,
                                  std::vector<std::string> rest,
                                  const std::function<void()>& tick) const {
  auto all = command_line(std::move(words), "/dev/null");
  for (std::string& word : rest) all.push_back(std::move(word));
  return run(std::move(all), patience, tick);
}

}  // namespace cordon::gvisor_backend
