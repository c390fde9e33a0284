#include "backend/posix/child_side.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cordon::posix {
namespace {

constexpr unsigned kAll = ~0U;
constexpr int kSignals = 64;

[[noreturn]] void give_up(ChildPlan& plan, Step step, int index = 0) {
  plan.failed_errno = errno;
  plan.failed_index = index;
  plan.failed_step = step;
  for (;;) ::syscall(SYS_exit_group, 127);
}

// The descriptor table is shared with the caller until this call copies the part of it that we
// need: the sources of streams and of what is passed on, which are low numbers (see base::move_up).
void unshare_descriptors(ChildPlan& plan) {
  int highest = 2;
  for (const int fd : plan.stdio) {
    if (fd > highest) highest = fd;
  }
  for (std::size_t i = 0; i < plan.passed_count; ++i) {
    if (plan.passed[i] > highest) highest = plan.passed[i];
  }
  if (::syscall(SYS_close_range, static_cast<unsigned>(highest) + 1, kAll, CLOSE_RANGE_UNSHARE) !=
      0) {
    give_up(plan, Step::unshare_descriptors);
  }
}

void place_streams(ChildPlan& plan) {
  // A source among 0, 1, 2 could be overwritten before it is used: move those out of the way.
  for (int target = 0; target < 3; ++target) {
    int& source = plan.stdio[target];
    if (source < 3 && source != target) {
      const long moved = ::syscall(SYS_fcntl, source, F_DUPFD, 3);
      if (moved < 0) give_up(plan, Step::standard_stream, target);
      source = static_cast<int>(moved);
    }
  }
  for (int target = 0; target < 3; ++target) {
    const int source = plan.stdio[target];
    const long placed = source == target ? ::syscall(SYS_fcntl, target, F_SETFD, 0)
                                         : ::syscall(SYS_dup3, source, target, 0);
    if (placed < 0) give_up(plan, Step::standard_stream, target);
  }
}

// Returns the first number that is free behind them.
unsigned place_passed(ChildPlan& plan) {
  const int count = static_cast<int>(plan.passed_count);
  // Out of the way of each other first.
  for (int i = 0; i < count; ++i) {
    const long moved = ::syscall(SYS_fcntl, plan.passed[i], F_DUPFD, 3 + count);
    if (moved < 0) give_up(plan, Step::passed_descriptor, i);
    plan.passed[i] = static_cast<int>(moved);
  }
  for (int i = 0; i < count; ++i) {
    if (::syscall(SYS_dup3, plan.passed[i], 3 + i, 0) < 0) {
      give_up(plan, Step::passed_descriptor, i);
    }
  }
  return 3U + static_cast<unsigned>(count);
}

// Without the room everything works, but slower.
void make_room(int up_to) {
  const long fd = ::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_PATH | O_CLOEXEC);
  if (fd < 0) return;
  ::syscall(SYS_dup3, fd, up_to, 0);
  ::syscall(SYS_close, fd);
}

// Handlers would be reset by exec, but signals that the caller ignores would stay ignored. All are
// blocked until the handlers are gone: none of the caller's may run here, on its memory.
void reset_signals(ChildPlan& plan) {
  const struct {
    unsigned long words[4];  // SIG_DFL, no flags, no restorer, empty mask
  } default_action{};
  for (int signal = 1; signal <= kSignals; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, &default_action, nullptr, kSignals / 8);
  }
  const unsigned long none = 0;
  constexpr int kSetMask = 2;
  if (::syscall(SYS_rt_sigprocmask, kSetMask, &none, nullptr, kSignals / 8) != 0) {
    give_up(plan, Step::signal_mask);
  }
}

void join_groups(ChildPlan& plan) {
  for (std::size_t i = 0; i < plan.join_count; ++i) {
    if (::syscall(SYS_write, plan.join[i], "0", 1) != 1) {
      give_up(plan, Step::join_group, static_cast<int>(i));
    }
  }
}

void die_with_parent(ChildPlan& plan) {
  if (::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    give_up(plan, Step::die_with_parent);
  }
  // It may have gone before.
  if (::syscall(SYS_getppid) != plan.die_with) give_up(plan, Step::die_with_parent);
}

void make_mounts(ChildPlan& plan) {
  if (plan.mount_count == 0) return;
  // What is mounted here stays here.
  if (::syscall(SYS_unshare, CLONE_NEWNS) != 0 ||
      ::syscall(SYS_mount, "none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    give_up(plan, Step::mount_namespace);
  }
  for (std::size_t i = 0; i < plan.mount_count; ++i) {
    const auto& [tree, at] = plan.mounts[i];
    if (::syscall(SYS_move_mount, tree, "", AT_FDCWD, at, MOVE_MOUNT_F_EMPTY_PATH) != 0) {
      give_up(plan, Step::mount, static_cast<int>(i));
    }
  }
}

}  // namespace

void child_main(ChildPlan& plan) {
  join_groups(plan);
  if (plan.die_with != 0) die_with_parent(plan);
  make_mounts(plan);
  unshare_descriptors(plan);

  if (plan.terminal) {
    if (::syscall(SYS_setsid) < 0) give_up(plan, Step::process_group);
    if (::syscall(SYS_ioctl, plan.stdio[0], TIOCSCTTY, 0) != 0) give_up(plan, Step::terminal);
  } else if (::syscall(SYS_setpgid, 0, 0) != 0) {
    give_up(plan, Step::process_group);
  }

  place_streams(plan);
  const unsigned unused = place_passed(plan);
  if (::syscall(SYS_close_range, unused, kAll, 0) != 0) give_up(plan, Step::close_descriptors);
  if (plan.room_up_to != 0) make_room(plan.room_up_to);
  if (plan.cwd != nullptr && ::syscall(SYS_chdir, plan.cwd) != 0) {
    give_up(plan, Step::working_directory);
  }
  for (std::size_t i = 0; i < plan.rlimit_count; ++i) {
    const RlimitSetting& r = plan.rlimits[i];
    const std::uint64_t value[2] = {r.soft, r.hard};
    if (::syscall(SYS_prlimit64, 0, r.resource, value, nullptr) != 0) {
      give_up(plan, Step::resource_limit, static_cast<int>(i));
    }
  }
  reset_signals(plan);
  ::syscall(SYS_execve, plan.path, plan.argv, plan.envp);
  give_up(plan, Step::execute);
}

}  // namespace cordon::posix
