#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include "mcp/peer.h"
#include "support/figure.h"

namespace cordon::bench {
namespace {

BareSpawn spawn_of(const std::vector<std::string>& command) {
  return BareSpawn(command.front(), {command.begin() + 1, command.end()});
}

void end(pid_t pid) {
  ::kill(pid, SIGTERM);
  for (int i = 0; i < 300; ++i) {
    if (::waitpid(pid, nullptr, WNOHANG) == pid) return;
    ::usleep(10'000);
  }
  ::kill(pid, SIGKILL);
  (void)BareSpawn::wait(pid);
}

// Those that would outlive a program that gives up.
std::vector<pid_t>& in_background() {
  static std::vector<pid_t> pids;
  return pids;
}

void kill_all() {
  for (const pid_t pid : in_background()) ::kill(pid, SIGKILL);
}

}  // namespace

PipedServer::PipedServer(const std::vector<std::string>& command) {
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) {
    give_up("cannot make a pipe");
  }
  BareSpawn spawn = spawn_of(command);
  spawn.set_stdio({in[0], out[1], -1});
  pid_ = spawn.start();
  ::close(in[0]);
  ::close(out[1]);
  to_ = in[1];
  from_ = out[0];
}

PipedServer::~PipedServer() {
  ::close(to_);
  end(pid_);
  ::close(from_);
}

void PipedServer::tell(std::string_view message) {
  std::string line(message);
  line += '\n';
  if (::write(to_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    give_up("the server does not read");
  }
}

void PipedServer::ask(std::string_view message, std::string_view answer) {
  tell(message);
  std::array<char, 65536> buffer{};
  for (;;) {
    for (std::size_t end = read_.find('\n'); end != std::string::npos; end = read_.find('\n')) {
      const bool found = std::string_view(read_).substr(0, end).contains(answer);
      read_.erase(0, end + 1);
      if (found) return;
    }
    const ssize_t size = ::read(from_, buffer.data(), buffer.size());
    if (size <= 0) give_up("the server has ended");
    read_.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

Background::Background(const std::vector<std::string>& command) {
  BareSpawn spawn = spawn_of(command);
  spawn.set_stdio({-1, -1, -1});
  pid_ = spawn.start();
  if (in_background().empty()) (void)std::atexit(kill_all);
  in_background().push_back(pid_);
}

Background::~Background() {
  std::erase(in_background(), pid_);
  end(pid_);
}

double Background::resident_megabytes() const {
  std::ifstream status("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  }
  give_up("the bridge has ended");
}

}  // namespace cordon::bench
