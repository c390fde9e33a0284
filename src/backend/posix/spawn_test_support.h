// Programs to spawn, for the tests of spawn().
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/posix/spawn.h"
#include "base/fd.h"

namespace cordon::posix {

// A plan and everything it points to.
class Program {
 public:
  explicit Program(std::vector<std::string> words) : words_(std::move(words)) {
    for (const std::string& word : words_) argv_.push_back(word.c_str());
    argv_.push_back(nullptr);
    plan.path = argv_[0];
    plan.argv = argv_.data();
    plan.envp = envp_.data();
    for (int i = 0; i < 3; ++i) plan.stdio[i] = null_.get();
  }

  ChildPlan plan{};

 private:
  std::vector<std::string> words_;
  std::vector<const char*> argv_;
  std::vector<const char*> envp_{"PATH=/usr/bin:/bin", "LC_ALL=C", nullptr};
  base::Fd null_{::open("/dev/null", O_RDWR | O_CLOEXEC)};
};

inline int wait_for(pid_t pid) {
  int status = -1;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

inline std::string content(int file) {
  std::string all;
  char block[4096];
  off_t at = 0;
  for (ssize_t n = 0; (n = ::pread(file, block, sizeof block, at)) > 0; at += n) {
    all.append(block, static_cast<std::size_t>(n));
  }
  return all;
}

// Runs it to its end and returns its stdout.
inline std::string output_of(Program& program) {
  const base::Fd file(::memfd_create("output", MFD_CLOEXEC));
  program.plan.stdio[1] = file.get();
  const Spawned spawned = spawn(program.plan);
  EXPECT_GT(spawned.pid, 0);
  EXPECT_EQ(Step{program.plan.failed_step}, Step::none) << int{program.plan.failed_errno};
  if (program.plan.failed_step != Step::none) return "";
  EXPECT_EQ(wait_for(spawned.pid), 0);
  return content(file.get());
}

inline std::vector<std::string> split(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

}  // namespace cordon::posix
