// What the supervisor asks of the spawner: plain old data, shared by both.
//
// A script is a list of system calls. The supervisor compiles a plan into one (ScriptBuilder), the
// spawner's children carry it out and stop at the first call that fails, saying which. So the
// program that runs in the most delicate place knows nothing about sandboxes, and what it does can
// be printed and tested without running it.
//
// The script is placed at kArena in the spawner's memory; the pointers in it count on that. The
// descriptors sent with it become kFirstFd and up, in order.
//
// What is only known when a program is to run comes later, in a second script: the letter. It takes
// the place of the first in the memory of the process that waits for it. Its descriptors become 0,
// 1, 2, then kFirstLetterFd and up.
#pragma once

#include <cstdint>

namespace cordon::linux_backend::spawner {

inline constexpr std::uint64_t kArena = 0x1'0000'0000;
inline constexpr std::uint64_t kArenaSize = 8 * 1024 * 1024;
inline constexpr std::uint64_t kSecrets = kArena + kArenaSize;  // where a program maps its own
inline constexpr int kControlFd = 1;  // the spawner's end of the socket to the supervisor
inline constexpr int kStatusFd = 3;   // a script's first descriptor: where its children report
inline constexpr int kLetterFd = 4;   // its second one, where one waits for a letter
inline constexpr int kFirstFd = 3;
inline constexpr int kExecutableFd = 5;  // a program that is executed by its descriptor
inline constexpr int kFirstLetterFd = 6;
inline constexpr std::uint32_t kMostFds = 250;          // of one message (SCM_MAX_FD)
inline constexpr std::uint64_t kMostBytes = 64 * 1024;  // of one message; a script may take several

// The processes of a sandbox, each with its part of the script.
enum class Role : std::uint8_t { setup, init, program };
inline constexpr int kRoles = 3;

enum class Op : std::uint8_t {
  call,          // a system call
  clone,         // args: flags, Role of the child; reports `cloned`; the result is its pid
  store,         // args: address, value: 4 bytes into the script, where a structure needs a result
  expect,        // args: descriptor, device, inode: fails with ESTALE if it is another file
  copy,          // args: descriptor, another one, offset, size: all those bytes of it, or EIO
  here,          // reports `here`
  ready,         // reports `parked`
  park,          // … and waits to be released
  await,         // waits to be released, as `park` does
  receive,       // reports `parked`, waits for a letter, and goes on with that for ever
  nurse,         // reports `parked`; makes a process for each script that comes (nursery.h)
  execute,       // args: path, argv, envp; a failure goes on with the next step
  execute_open,  // the same; args: descriptor, argv, envp
  give_up,       // reports what `execute` failed with
  sleep,         // for ever, without the script: it holds what the program was given
  exit,
};

struct Step {
  Op op = Op::call;
  std::uint8_t from_register = 0;  // bit i: args[i] is the number of a register
  std::uint8_t into = 0;           // register for the result; 0: none
  std::uint8_t tolerated = 0;      // an errno that is no failure, or kAnyError
  std::int32_t number = 0;         // of the system call
  std::uint64_t args[6] = {};
};
inline constexpr int kRegisters = 256;
inline constexpr std::uint8_t kAnyError = 255;  // no errno has this number

struct Section {
  std::uint64_t steps;  // const Step*
  std::uint64_t count;
};

struct Script {
  std::uint64_t size;         // of it and everything behind it
  std::uint64_t clone_flags;  // for the set-up process
  std::int64_t cgroup_fd;     // CLONE_INTO_CGROUP; -1: none
  std::uint32_t fd_count;     // sent with it
  std::uint32_t unused;
  Section sections[kRoles];
};

enum class ReportKind : std::uint32_t {
  started,  // by the spawner, or a nursery, which has pids of its own: value = pid of the first
            // process, or -errno
  cloned,   // by the set-up process: value = pid of the process of `role`
  failed,   // step `step` of `role` failed with `error`
  here,     // this process is there, and may leave its process group
  parked,   // everything is in place
  not_executed,  // exec failed with `error`
  listening,     // with a descriptor: what the supervisor hears of system calls by
};

struct Report {
  ReportKind kind;
  Role role;
  std::uint8_t unused[3];
  std::uint32_t step;
  std::int32_t error;
  std::int64_t value;
};

}  // namespace cordon::linux_backend::spawner
