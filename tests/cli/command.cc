#include "command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/write.h"

namespace cordon::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Pipe {
  base::Fd read_end;
  base::Fd write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2");
  return {base::Fd(ends[0]), base::Fd(ends[1])};
}

void do_not_block(const base::Fd& fd) { ::fcntl(fd.get(), F_SETFL, O_NONBLOCK); }

// Takes what is there. Closes `fd` at its end.
void take(base::Fd& fd, std::string& text) {
  std::array<char, 64 * 1024> buffer{};
  while (fd) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.reset();  // end of file; EIO is that of a terminal
    }
  }
}

// As exec wants them.
std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Running::Running(pid_t pid, base::Fd in, base::Fd out, base::Fd err)
    : pid_(pid),
      in_(std::move(in)),
      out_fd_(std::move(out)),
      err_fd_(std::move(err)),
      pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
      started_(Clock::now()) {
  for (const base::Fd* fd : {&in_, &out_fd_, &err_fd_}) {
    if (*fd) do_not_block(*fd);
  }
}

Running::Running(Running&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_fd_(std::move(other.out_fd_)),
      err_fd_(std::move(other.err_fd_)),
      pidfd_(std::move(other.pidfd_)),
      to_write_(std::move(other.to_write_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)),
      close_when_written_(other.close_when_written_),
      searched_(other.searched_),
      started_(other.started_) {}

Running::~Running() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Running::signal(int signal) const { ::kill(pid_, signal); }

void Running::types(std::string_view text) { to_write_ += text; }

void Running::types_all(std::string text) {
  to_write_ = std::move(text);
  close_when_written_ = true;
  if (to_write_.empty()) in_.reset();
}

void Running::hang_up() {
  in_.reset();
  out_fd_.reset();
}

// Moves bytes once. False when time is up or the command has ended.
bool Running::pump(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  if (left.count() <= 0) return false;
  std::array<pollfd, 4> waiting = {
      {{.fd = out_fd_.get(), .events = POLLIN, .revents = 0},
       {.fd = err_fd_.get(), .events = POLLIN, .revents = 0},
       {.fd = pidfd_.get(), .events = POLLIN, .revents = 0},
       {.fd = to_write_.empty() ? -1 : in_.get(), .events = POLLOUT, .revents = 0}}};
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) < 0) return true;
  if (waiting[3].revents != 0) {
    const ssize_t written = base::write_without_sigpipe(in_.get(), to_write_);
    to_write_.erase(0, written < 0 ? to_write_.size() : static_cast<std::size_t>(written));
    if (to_write_.empty() && close_when_written_) in_.reset();
  }
  const bool over = waiting[2].revents != 0;
  take(out_fd_, out_);
  take(err_fd_, err_);
  return !over;
}

bool Running::reads(std::string_view text) {
  const auto until = Clock::now() + kPatience;
  while (true) {
    const std::size_t at = out_.find(text, searched_);
    if (at != std::string::npos) {
      searched_ = at + text.size();
      return true;
    }
    if (!pump(until) && out_.find(text, searched_) == std::string::npos) return false;
  }
}

Ended Running::wait() {
  const auto until = Clock::now() + kPatience;
  while (pump(until)) {
  }
  Ended ended;
  ended.wall = Clock::now() - started_;
  int status = 0;
  if (Clock::now() >= until) {
    err_ += "\n[test: the command did not end in time]";
    ::kill(pid_, SIGKILL);
  }
  ::waitpid(std::exchange(pid_, -1), &status, 0);
  ended.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  take(out_fd_, out_);
  take(err_fd_, err_);
  ended.out = out_;
  ended.err = err_;
  return ended;
}

Command::Command(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {
  arguments_.insert(arguments_.begin(), CORDON_COMMAND);
}

Command Command::program(std::vector<std::string> arguments) {
  Command command({});
  command.arguments_ = std::move(arguments);
  return command;
}

Command& Command::input(std::string text) {
  input_ = std::move(text);
  has_input_ = true;
  return *this;
}

Command& Command::keep_input_open() {
  keep_open_ = true;
  return *this;
}

Command& Command::closed(std::initializer_list<int> descriptors) {
  closed_ = descriptors;
  return *this;
}

Command& Command::environment(std::string name, std::string value) {
  environment_.emplace_back(std::move(name), std::move(value));
  return *this;
}

Command& Command::ignoring(int signal) {
  ignored_.push_back(signal);
  return *this;
}

Command& Command::redirect(int descriptor, std::string file) {
  redirected_.emplace_back(descriptor, std::move(file));
  return *this;
}

pid_t Command::spawn(void* actions, short flags) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  for (const auto& [name, value] : environment_) {
    const std::string beginning = name + "=";
    std::erase_if(variables, [&](const auto& v) { return v.starts_with(beginning); });
    variables.push_back(beginning + value);
  }
  const std::vector<char*> argv = pointers(arguments_);
  const std::vector<char*> envp = pointers(variables);

  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t signals;
  sigemptyset(&signals);
  ::posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  for (const int signal : ignored_) {
    sigdelset(&signals, signal);
    (void)std::signal(signal, SIG_IGN);
  }
  ::posix_spawnattr_setsigdefault(&attributes, &signals);
  ::posix_spawnattr_setflags(
      &attributes, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));

  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], static_cast<posix_spawn_file_actions_t*>(actions),
                                   &attributes, argv.data(), envp.data());
  ::posix_spawnattr_destroy(&attributes);
  for (const int signal : ignored_) (void)std::signal(signal, SIG_DFL);
  if (error != 0) throw std::runtime_error(arguments_[0] + ": " + std::strerror(error));
  return pid;
}

Running Command::start() {
  const bool piped_input = has_input_ || keep_open_;
  Pipe in = piped_input ? make_pipe() : Pipe{};
  Pipe out = make_pipe();
  Pipe err = make_pipe();

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (piped_input) {
    ::posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  for (const auto& [descriptor, file] : redirected_) {
    ::posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(),
                                       O_RDWR | O_CREAT | O_APPEND, 0600);
  }
  for (const int fd : closed_) ::posix_spawn_file_actions_addclose(&actions, fd);
  const pid_t pid = spawn(&actions, 0);
  ::posix_spawn_file_actions_destroy(&actions);

  Running running(pid, std::move(in.write_end), std::move(out.read_end), std::move(err.read_end));
  if (has_input_) running.types_all(std::move(input_));
  return running;
}

Running Command::start_on(const std::string& terminal, base::Fd master) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // The first terminal that the leader of a new session opens is its controlling terminal.
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, terminal.c_str(), O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
  for (const auto& [descriptor, file] : redirected_) {
    ::posix_spawn_file_actions_addopen(&actions, descriptor, file.c_str(),
                                       O_RDWR | O_CREAT | O_APPEND, 0600);
  }
  const pid_t pid = spawn(&actions, POSIX_SPAWN_SETSID);
  ::posix_spawn_file_actions_destroy(&actions);

  base::Fd keys(::fcntl(master.get(), F_DUPFD_CLOEXEC, 3));
  return {pid, std::move(keys), std::move(master), base::Fd()};
}

Ended cordon(std::vector<std::string> arguments) { return Command(std::move(arguments)).run(); }

}  // namespace cordon::cli
