#include "support/bare.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "support/figure.h"

namespace cordon::bench {

std::string program(const std::string& name) {
  return std::string(CORDON_BENCH_PROGRAMS_DIR) + "/" + name;
}

void reduce_environment() {
  const char* path = std::getenv("PATH");
  const std::string kept = path != nullptr ? path : "/usr/bin:/bin";
  ::clearenv();
  ::setenv("PATH", kept.c_str(), 1);
}

BareSpawn::BareSpawn(std::string path, std::vector<std::string> args)
    : path_(std::move(path)), args_(std::move(args)) {
  argv_.push_back(path_.data());
  for (std::string& arg : args_) argv_.push_back(arg.data());
  argv_.push_back(nullptr);
  posix_spawn_file_actions_init(&actions_);
  set_stdio({-1, -1, -1});
}

BareSpawn::~BareSpawn() { posix_spawn_file_actions_destroy(&actions_); }

void BareSpawn::set_stdio(const std::array<int, 3>& fds) {
  posix_spawn_file_actions_destroy(&actions_);
  posix_spawn_file_actions_init(&actions_);
  for (int target = 0; target < 3; ++target) {
    const int fd = fds[static_cast<std::size_t>(target)];
    if (fd < 0) {
      posix_spawn_file_actions_addopen(&actions_, target, "/dev/null",
                                       target == 0 ? O_RDONLY : O_WRONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&actions_, fd, target);
    }
  }
}

pid_t BareSpawn::start() const {
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, path_.c_str(), &actions_, nullptr, argv_.data(), environ);
  if (error != 0) give_up("posix_spawn " + path_ + ": " + std::strerror(error));
  return pid;
}

int BareSpawn::wait(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) give_up(std::string("waitpid: ") + std::strerror(errno));
  }
  return status;
}

}  // namespace cordon::bench
