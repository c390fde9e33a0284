// What happens between clone and exec.
//
// Plain old data in, raw system calls, plain old data out. The child shares the caller's memory
// until it execs: nothing here may allocate, lock, or call a libc function that keeps state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cordon::posix {

struct RlimitSetting {
  int resource;
  std::uint64_t soft;
  std::uint64_t hard;
};

inline constexpr std::size_t kMaxRlimits = 6;

// A mount that is attached nowhere yet (open_tree), and the place where it is to be.
struct MountSetting {
  int tree;
  const char* at;
};

enum class Step : std::int32_t {
  none,        // the program was executed
  join_group,  // index into ChildPlan::join
  die_with_parent,
  mount_namespace,
  mount,  // index into ChildPlan::mounts
  unshare_descriptors,
  process_group,
  terminal,
  standard_stream,    // index: 0, 1, 2
  passed_descriptor,  // index into ChildPlan::passed
  close_descriptors,
  working_directory,
  resource_limit,  // index into ChildPlan::rlimits
  signal_mask,
  execute,
};

struct ChildPlan {
  const char* path;
  const char* const* argv;
  const char* const* envp;
  const char* cwd;  // null: stay
  int stdio[3];
  int* passed;  // become descriptors 3 and up, in order; the numbers are used up
  std::size_t passed_count;
  // Control files that move whoever writes "0" to them into their group; done first of all.
  const int* join;
  std::size_t join_count;
  // If there are any, the child has a mount namespace of its own, in which they are made.
  const MountSetting* mounts;
  std::size_t mount_count;
  int die_with;   // 0, or the pid of the caller: the child is killed when its thread ends
  bool terminal;  // stdio[0] becomes the controlling terminal of a new session
  // 0, or a number below which the program's descriptors are to find room: it has one more of that
  // number, which can be used for nothing. A process with threads waits for every processor, some
  // ten milliseconds, each time its table grows; its children have as much room as it has.
  int room_up_to;
  RlimitSetting rlimits[kMaxRlimits];
  std::size_t rlimit_count;

  // Out: where it failed.
  volatile Step failed_step;
  volatile int failed_errno;
  volatile int failed_index;
};

// Runs in the child. Does not return: the program is executed, or the plan says why not.
[[noreturn]] void child_main(ChildPlan& plan);

}  // namespace cordon::posix
