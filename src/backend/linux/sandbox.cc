#include "backend/linux/sandbox.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "backend/linux/probe_files.h"
#include "backend/linux/tree_sampler.h"

namespace cordon::linux_backend {
namespace {

// None of these pids can have been reused: they are our children, and nobody else reaps them.
void kill_one(pid_t pid) {
  if (pid > 0) (void)::kill(pid, SIGKILL);
}

base::Fd open_pidfd(pid_t pid) {
  return base::move_up(base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
}

void reap_one(pid_t& pid) {
  if (pid < 0) return;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
}

// All children in the group, as they end: one of them may wait for another to be reaped.
void reap_group(pid_t& leader) {
  bool reaped = false;
  for (;;) {
    int status = 0;
    const pid_t pid = ::waitpid(-leader, &status, 0);
    if (pid < 0 && errno != EINTR) break;
    if (pid == leader) reaped = true;
  }
  if (reaped) leader = -1;
  reap_one(leader);  // that had not come to lead it
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  const auto stat = read_small_file(("/proc/" + std::to_string(pid) + "/stat").c_str());
  return stat ? parse_process_stat(*stat) : std::nullopt;
}

Duration duration_of(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

}  // namespace

Sandbox::~Sandbox() { end(); }

Sandbox::Sandbox(Sandbox&& other) noexcept
    : setup_(std::exchange(other.setup_, -1)),
      init_(std::exchange(other.init_, -1)),
      program_(std::exchange(other.program_, -1)),
      setup_fd_(std::move(other.setup_fd_)),
      program_fd_(std::move(other.program_fd_)),
      seen_ended_(other.seen_ended_),
      nursery_(other.nursery_) {}

Sandbox& Sandbox::operator=(Sandbox&& other) noexcept {
  if (this != &other) {
    end();
    setup_ = std::exchange(other.setup_, -1);
    init_ = std::exchange(other.init_, -1);
    program_ = std::exchange(other.program_, -1);
    setup_fd_ = std::move(other.setup_fd_);
    program_fd_ = std::move(other.program_fd_);
    seen_ended_ = other.seen_ended_;
    nursery_ = other.nursery_;
  }
  return *this;
}

void Sandbox::set_setup(pid_t pid) {
  setup_ = pid;
  setup_fd_ = open_pidfd(pid);
}

void Sandbox::set_program(pid_t pid) {
  program_ = pid;
  program_fd_ = open_pidfd(pid);
  if (!program_fd_) watch_error_ = errno;
}

bool Sandbox::setup_done() {
  siginfo_t info{};
  if (setup_ < 0 ||
      ::waitid(P_PID, static_cast<id_t>(setup_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return false;
  }
  if (info.si_pid == 0 || info.si_code != CLD_EXITED || info.si_status != 0) return false;
  setup_fd_.reset();
  return true;
}

void Sandbox::reap_setup() {
  setup_fd_.reset();
  reap_one(setup_);
}

bool Sandbox::program_ended() const {
  pollfd end{.fd = program_fd_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, 0) != 0;
}

bool Sandbox::executed() const {
  const auto stat = stat_of(program_);
  return !stat || stat->executed;
}

void Sandbox::kill() {
  kill_one(init_);
  // Should the application reap it, its number may become somebody else's.
  if (!seen_ended_) kill_one(program_);
}

// The kernel lets go of a killed init only when the program, its sibling, has been reaped: also one
// that was killed before it could be reported.
void Sandbox::end() {
  kill_one(setup_);
  if (setup_ > 0) (void)::kill(-setup_, SIGKILL);
  kill();
  if (nursery_ && program_ > 0) reap_group(program_);
  reap_one(program_);
  if (setup_ > 0) reap_group(setup_);
  reap_one(init_);
}

bool Sandbox::init_is_alone() const {
  const std::string id = std::to_string(init_);
  const auto left = read_small_file(("/proc/" + id + "/task/" + id + "/children").c_str());
  return left && left->empty();
}

bool Sandbox::had_children() const {
  const auto parsed = stat_of(program_);
  // What it has left running is init's now.
  return !parsed || parsed->children_faults > 0 || !init_is_alone();
}

std::optional<ProgramEnd> Sandbox::program_end() {
  siginfo_t info{};
  rusage used{};
  ProgramEnd ended;
  if (::syscall(SYS_waitid, P_PID, program_, &info, WEXITED | WNOHANG | WNOWAIT, &used) != 0) {
    if (errno != ECHILD) return std::nullopt;
    ended.status_lost = true;  // reaped by the application, or by the kernel: SIGCHLD is ignored
    program_ = -1;
    return ended;
  }
  if (info.si_pid == 0) return std::nullopt;
  seen_ended_ = true;
  (info.si_code == CLD_EXITED ? ended.exit_code : ended.signal) = info.si_status;
  ended.cpu_user = duration_of(used.ru_utime);
  ended.cpu_system = duration_of(used.ru_stime);
  ended.memory_peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  return ended;
}

}  // namespace cordon::linux_backend
