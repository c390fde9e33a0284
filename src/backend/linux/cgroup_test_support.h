// For tests of real control groups: processes inside a group, and where its directories are.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "backend/linux/cgroup.h"
#include "backend/linux/cgroup_table.h"
#include "support/must_work.h"

namespace cordon::linux_backend {

inline std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

inline std::string cgroup_text(pid_t pid) {
  return text_of("/proc/" + std::to_string(pid) + "/cgroup");
}

// Uses so much memory; for a process of its own.
inline int touch(std::uint64_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return memory == MAP_FAILED ? 1 : 0;
}

inline bool readable(int fd, int patience_ms) {
  pollfd p{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&p, 1, patience_ms) == 1;
}

inline bool is_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// The directory of the group that a process is in, in the hierarchy of `controller`.
inline std::string directory_of(const std::string& cgroup_text, std::string_view controller) {
  const auto mounts = parse_mountinfo(text_of("/proc/self/mountinfo"));
  if (group_of(cgroup_text, controller).value_or("/") == "/") controller = "";
  const auto group = group_of(cgroup_text, controller);
  const auto* const mount = group ? mount_for(mounts, controller, *group) : nullptr;
  if (mount == nullptr) return "";
  return mount->point + "/" + below(mount->root, *group).value_or("");
}

class CgroupTest : public testing::Test {
 protected:
  void SetUp() override {
    auto parent = open_cgroup_parent("");
    if (!parent) CORDON_SKIP_WITHOUT("cgroup", parent.error().message);
    parent_ = std::move(*parent);
    if (!parent_->memory().works) CORDON_SKIP_WITHOUT("cgroup", parent_->memory().why);
    if (!parent_->pids().works) CORDON_SKIP_WITHOUT("cgroup", parent_->pids().why);
    if (!parent_->cpu().works) CORDON_SKIP_WITHOUT("cgroup", parent_->cpu().why);
  }
  void TearDown() override {
    for (const pid_t pid : started_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }

  std::unique_ptr<Cgroup> make(const CgroupLimits& limits = {}) {
    auto made = parent_->make(limits);
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }

  // A process in the group, or outside of any. Returns once it is there.
  pid_t start(const Cgroup* group, const std::function<int()>& body) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    clone_args args{};
    args.exit_signal = SIGCHLD;
    if (group != nullptr && group->clone_fd() >= 0) {
      args.flags = CLONE_INTO_CGROUP;
      args.cgroup = static_cast<std::uint64_t>(group->clone_fd());
    }
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
    if (pid == 0) {
      // The test's end, whatever happens to the test.
      ::alarm(30);
      if (group != nullptr) {
        for (const auto& fds : {group->join_fds(), group->join_each_fds()}) {
          for (const int fd : fds) {
            if (::write(fd, "0", 1) != 1) ::_exit(99);
          }
        }
      }
      (void)!::write(ends[1], "!", 1);
      ::_exit(body());
    }
    EXPECT_GT(pid, 0);
    ::close(ends[1]);
    char ready = 0;
    EXPECT_EQ(::read(ends[0], &ready, 1), 1);
    ::close(ends[0]);
    if (pid > 0) started_.push_back(pid);
    return pid;
  }
  pid_t start_idle(const Cgroup* group) {
    return start(group, [] { return ::pause(); });
  }

  int status_of(pid_t pid) {
    int status = -1;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    std::erase(started_, pid);
    return status;
  }

  std::unique_ptr<CgroupParent> parent_;
  std::vector<pid_t> started_;
};

}  // namespace cordon::linux_backend
