#include "backend/linux/filtered_run.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.h"

namespace cordon::linux_backend {
namespace {

using Clock = std::chrono::steady_clock;

bool install(const BpfProgram& program) {
  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = const_cast<sock_filter*>(program.data())};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0;
}

[[noreturn]] void become(const std::vector<BpfProgram>& filters, char** argv, const char* directory,
                         int output) {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || ::setpgid(0, 0) != 0 || ::chdir(directory) != 0 || ::dup2(null, 0) < 0 ||
      ::dup2(output, 1) < 0 || ::dup2(output, 2) < 0 ||
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    ::_exit(125);
  }
  for (const BpfProgram& program : filters) {
    if (!install(program)) ::_exit(125);
  }
  ::execvp(argv[0], argv);
  ::_exit(127);
}

// Whether the end came before the deadline.
bool read_to_end(int fd, Clock::time_point deadline, std::string& into) {
  char block[4096];
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t n = ::read(fd, block, sizeof block);
    if (n <= 0) return true;
    into.append(block, static_cast<std::size_t>(n));
  }
}

}  // namespace

FilteredRun run_filtered(const std::vector<BpfProgram>& filters, std::vector<std::string> argv,
                         const std::string& directory, std::chrono::seconds deadline) {
  FilteredRun run;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return run;
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (std::string& word : argv) raw.push_back(word.data());
  raw.push_back(nullptr);

  const pid_t child = ::fork();
  if (child < 0) return run;
  if (child == 0) become(filters, raw.data(), directory.c_str(), writer.get());
  writer.reset();
  run.timed_out = !read_to_end(reader.get(), Clock::now() + deadline, run.output);
  if (run.timed_out) {
    ::kill(-child, SIGKILL);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return run;
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  return run;
}

}  // namespace cordon::linux_backend
