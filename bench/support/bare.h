// The baseline: a program started with nothing but posix_spawn.
#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

namespace cordon::bench {

// Where a program of this directory's programs/ was built.
[[nodiscard]] std::string program(const std::string& name);

// Both sides of a comparison give their programs the same small environment: the caller's, which
// this reduces to PATH.
void reduce_environment();

class BareSpawn {
 public:
  explicit BareSpawn(std::string path, std::vector<std::string> args = {});
  ~BareSpawn();
  BareSpawn(const BareSpawn&) = delete;
  BareSpawn& operator=(const BareSpawn&) = delete;

  // What the program's streams are from now on: descriptors of ours, or /dev/null where < 0.
  void set_stdio(const std::array<int, 3>& fds);
  [[nodiscard]] pid_t start() const;
  // Its status as of waitpid.
  static int wait(pid_t pid);

 private:
  std::string path_;
  std::vector<std::string> args_;
  std::vector<char*> argv_;
  posix_spawn_file_actions_t actions_{};
};

}  // namespace cordon::bench
