#include "backend/posix/posix_child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "backend/posix/lookup.h"
#include "backend/posix/rlimits.h"
#include "backend/posix/secret_files.h"
#include "backend/posix/spawn.h"
#include "base/errors.h"

namespace cordon::posix {
namespace {

using base::fail_os;

std::uint64_t peak_of_caller() {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  return static_cast<std::uint64_t>(own.ru_maxrss) * 1024;
}

Duration duration_of(const timeval& t) {
  return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
}

Error explain(const ChildPlan& plan, const Request& request) {
  const int error = plan.failed_errno;
  switch (plan.failed_step) {
    case Step::execute:
      return explain_exec_failure(plan.path, request.cwd, error);
    case Step::working_directory:
      return fail_os("chdir", error,
                     "changing to the working directory " + request.cwd +
                         " failed, so the program was not run")
          .error();
    case Step::resource_limit: {
      const std::string name(limit_name(plan.rlimits[plan.failed_index].resource));
      Error e = fail_os("limit:" + name, error,
                        "setting the limit " + name + " failed, so the program was not run")
                    .error();
      e.code = ErrorCode::limit_not_applied;
      return e;
    }
    case Step::standard_stream:
      return fail_os("stdio", error,
                     "setting up stream " + std::to_string(plan.failed_index) +
                         " of the program failed")
          .error();
    case Step::passed_descriptor:
      return fail_os("secrets", error, "giving the program the descriptor of a secret failed")
          .error();
    case Step::terminal:
      return fail_os("terminal", error, "giving the program its terminal failed").error();
    case Step::process_group:
      return fail_os("process group", error, "making the program's process group failed").error();
    case Step::unshare_descriptors:
    case Step::close_descriptors:
      return fail_os("close_range", error,
                     "closing the caller's descriptors failed (Linux 5.9 or later is needed)")
          .error();
    case Step::signal_mask:
    case Step::join_group:       // of others
    case Step::die_with_parent:  // of others
    case Step::mount_namespace:  // of others
    case Step::mount:            // of others
    case Step::none:
      break;
  }
  return fail_os("signals", error, "resetting the program's signals failed").error();
}

}  // namespace

PosixChild::~PosixChild() {
  if (pid_ < 0 || reaped_) return;
  (void)send(SIGKILL, Reach::tree);
  if (exit_signal_) exit_signal_->join();  // it must not wait for a pid that is no longer ours
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

Result<void> PosixChild::launch(const supervise::LaunchSpec& spec) {
  const Request& request = spec.request;
  std::vector<std::string> environment = environment_for(request);
  auto path = find_program(request.program, environment);
  if (!path) return std::unexpected(std::move(path.error()));
  auto secret_fds = secret_descriptors(request);
  if (!secret_fds) return std::unexpected(std::move(secret_fds.error()));
  auto secrets = secret_variables(request);
  if (!secrets) return std::unexpected(std::move(secrets.error()));
  constexpr int kFirstPassed = 3;
  for (std::string& entry : secret_places(request, kFirstPassed)) {
    environment.push_back(std::move(entry));
  }

  const std::string& argv0 = request.argv0.empty() ? request.program : request.argv0;
  std::vector<const char*> argv{argv0.c_str()};
  for (const std::string& arg : request.args) argv.push_back(arg.c_str());
  argv.push_back(nullptr);
  std::vector<const char*> envp;
  envp.reserve(environment.size() + secrets->size() + 1);
  for (const std::string& entry : environment) envp.push_back(entry.c_str());
  for (const base::LockedBytes& entry : *secrets) envp.push_back(entry.view().data());
  envp.push_back(nullptr);

  ChildPlan plan{};
  plan.path = path->c_str();
  plan.argv = argv.data();
  plan.envp = envp.data();
  plan.cwd = request.cwd.empty() ? nullptr : request.cwd.c_str();
  for (int i = 0; i < 3; ++i) plan.stdio[i] = spec.stdio[i];
  std::vector<int> passed;
  passed.reserve(secret_fds->size());
  for (const base::Fd& fd : *secret_fds) passed.push_back(fd.get());
  plan.passed = passed.data();
  plan.passed_count = passed.size();
  plan.terminal = request.terminal.has_value();
  plan.rlimit_count = rlimits_for(spec.limits, plan.rlimits);
  if (!request.secrets.empty()) plan.rlimits[plan.rlimit_count++] = no_core_dump();

  caller_peak_ = peak_of_caller();
  Spawned spawned = spawn(plan);
  if (spawned.pid < 0) {
    return fail_os("spawn", errno,
                   "starting a process for " + request.program +
                       " failed (too many processes, or too little memory?)");
  }
  if (plan.failed_step != Step::none) return std::unexpected(explain(plan, request));

  pid_ = spawned.pid;
  if (use_pidfd_) {
    pidfd_ = std::move(spawned.pidfd);
  } else {
    exit_signal_.emplace(pid_);
    if (exit_signal_->fd() < 0) {  // the destructor ends the program
      return fail_os("spawn", errno, "watching " + request.program + " failed");
    }
  }
  return {};
}

int PosixChild::exit_fd() const { return use_pidfd_ ? pidfd_.get() : exit_signal_->fd(); }

int PosixChild::send(int signal, Reach reach) {
  const auto to_program = [&] { return ::kill(pid_, signal) == 0 ? 0 : errno; };
  if (reach == Reach::program) return to_program();
  const int sent = ::kill(-pid_, signal) == 0 ? 0 : errno;
  // A program can leave its own group; it does not get away from us by that.
  if (sent != 0 || ::getpgid(pid_) != pid_) return to_program();
  return 0;
}

std::optional<supervise::Ended> PosixChild::reap() {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  // Look first: as long as the program is a zombie, its pid and its group's id are ours.
  if (::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    if (errno != ECHILD) return std::nullopt;
    // Reaped by the application, or by the kernel because it ignores SIGCHLD.
    reaped_ = true;
    return supervise::Ended{.status_lost = true, .usage = {}};
  }
  if (info.si_pid != pid_) return std::nullopt;
  (void)::kill(-pid_, SIGKILL);  // what it left running
  if (exit_signal_) exit_signal_->join();
  rusage used{};
  ::syscall(SYS_waitid, P_PID, id, &info, WEXITED | WNOHANG, &used);
  reaped_ = true;

  supervise::Ended ended;
  (info.si_code == CLD_EXITED ? ended.exit_code : ended.signal) = info.si_status;
  ended.usage.cpu_user = duration_of(used.ru_utime);
  ended.usage.cpu_system = duration_of(used.ru_stime);
  // Until it executed the program, the child shared the caller's memory, and the kernel counts
  // that: a figure below the caller's own peak says nothing.
  const auto peak = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (peak > caller_peak_) ended.usage.memory_peak_bytes = peak;
  return ended;
}

std::optional<supervise::Sample> PosixChild::sample() const {
  supervise::Sample s;
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(pid_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
    return std::nullopt;
  }
  s.cpu = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);

  const std::string path = "/proc/" + std::to_string(pid_) + "/statm";
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[128];
  const ssize_t size = file ? ::read(file.get(), text, sizeof text) : -1;
  if (size > 0) {
    const std::string_view all(text, static_cast<std::size_t>(size));
    std::uint64_t pages = 0;
    const std::size_t second = all.find(' ') + 1;  // resident pages
    std::from_chars(all.data() + second, all.data() + all.size(), pages);
    s.memory_bytes = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  }
  return s;
}

}  // namespace cordon::posix
