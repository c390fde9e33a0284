#include "backend/linux/seccomp.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "backend/linux/bpf_evaluator.h"
#include "backend/linux/libseccomp_reference.h"
#include "backend/linux/seccomp_calls.h"

namespace cordon::linux_backend {
namespace {

constexpr std::uint64_t kHigh = std::uint64_t{1} << 32;  // a bit that the kernel does not look at
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t kX32Bit = 0x4000'0000;
constexpr std::uint64_t kTmpfileBit = O_TMPFILE & ~O_DIRECTORY;

constexpr std::uint32_t refused(int os_error) {
  return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(os_error);
}

using Arguments = std::array<std::uint64_t, 6>;

seccomp_data make_call(long number, const Arguments& arguments = {},
                       std::uint32_t arch = AUDIT_ARCH_X86_64) {
  seccomp_data data{.nr = static_cast<int>(number), .arch = arch};
  std::ranges::copy(arguments, data.args);
  return data;
}

std::vector<BpfProgram> compiled(const SeccompOptions& options = {}) {
  auto filters = compile_seccomp(options);
  EXPECT_TRUE(filters) << filters.error().message;
  return filters.value_or(std::vector<BpfProgram>{});
}

std::optional<std::uint32_t> answer(long number, const Arguments& arguments = {},
                                    const SeccompOptions& options = {}) {
  return evaluate(compiled(options), make_call(number, arguments));
}

struct Refusal {
  const char* name;
  long number;
  Arguments arguments;
  int os_error;
};

// A call that the list allows with other arguments.
const std::vector<Refusal>& refusals() {
  static const std::vector<Refusal> kAll{
      {"clone NEWNS", SYS_clone, {CLONE_NEWNS | SIGCHLD}, EPERM},
      {"clone NEWCGROUP", SYS_clone, {CLONE_NEWCGROUP | SIGCHLD}, EPERM},
      {"clone NEWUTS", SYS_clone, {CLONE_NEWUTS | SIGCHLD}, EPERM},
      {"clone NEWIPC", SYS_clone, {CLONE_NEWIPC | SIGCHLD}, EPERM},
      {"clone NEWUSER", SYS_clone, {CLONE_NEWUSER | SIGCHLD}, EPERM},
      {"clone NEWPID", SYS_clone, {CLONE_NEWPID | SIGCHLD}, EPERM},
      {"clone NEWNET", SYS_clone, {CLONE_NEWNET | SIGCHLD}, EPERM},
      {"clone NEWUSER, high bit", SYS_clone, {kHigh | CLONE_NEWUSER}, EPERM},
      {"clone PARENT", SYS_clone, {CLONE_PARENT | SIGCHLD}, EPERM},
      {"clone PARENT, high bit", SYS_clone, {kHigh | CLONE_PARENT | CLONE_VM}, EPERM},
      {"TIOCSTI", SYS_ioctl, {0, TIOCSTI}, EPERM},
      {"TIOCSTI, high bit", SYS_ioctl, {0, TIOCSTI | kHigh}, EPERM},
      {"TIOCLINUX", SYS_ioctl, {0, TIOCLINUX}, EPERM},
      {"TIOCLINUX, high bit", SYS_ioctl, {0, TIOCLINUX | kHigh}, EPERM},
      {"TIOCSETD", SYS_ioctl, {0, TIOCSETD}, EPERM},
      {"TIOCSETD, high bit", SYS_ioctl, {0, TIOCSETD | kHigh}, EPERM},
      {"AF_UNSPEC", SYS_socket, {AF_UNSPEC}, EAFNOSUPPORT},
      {"AF_PACKET", SYS_socket, {AF_PACKET}, EAFNOSUPPORT},
      {"AF_ALG", SYS_socket, {AF_ALG}, EAFNOSUPPORT},
      {"AF_VSOCK", SYS_socket, {AF_VSOCK}, EAFNOSUPPORT},
      {"AF_VSOCK, high bit", SYS_socket, {AF_VSOCK | kHigh}, EAFNOSUPPORT},
      {"socket -1", SYS_socket, {0xffff'ffff}, EAFNOSUPPORT},
      {"persona without randomisation", SYS_personality, {ADDR_NO_RANDOMIZE}, EPERM},
      {"persona, high bit", SYS_personality, {ADDR_NO_RANDOMIZE | kHigh}, EPERM},
      {"chmod setuid", SYS_chmod, {0, 04755}, EPERM},
      {"chmod setgid", SYS_chmod, {0, 02755}, EPERM},
      {"chmod setuid, high bit", SYS_chmod, {0, 04755 | kHigh}, EPERM},
      {"fchmod setuid", SYS_fchmod, {0, 04755}, EPERM},
      {"fchmod setgid", SYS_fchmod, {0, 02755}, EPERM},
      {"fchmodat setuid", SYS_fchmodat, {0, 0, 04755}, EPERM},
      {"fchmodat setgid", SYS_fchmodat, {0, 0, 02755}, EPERM},
      {"fchmodat2 setuid", kFchmodat2, {0, 0, 04755}, EPERM},
      {"fchmodat2 setgid", kFchmodat2, {0, 0, 02755}, EPERM},
      {"creat setuid", SYS_creat, {0, 04755}, EPERM},
      {"creat setgid", SYS_creat, {0, 02755}, EPERM},
      {"mkdir setuid", SYS_mkdir, {0, 04755}, EPERM},
      {"mkdir setgid", SYS_mkdir, {0, 02755}, EPERM},
      {"mkdirat setuid", SYS_mkdirat, {0, 0, 04755}, EPERM},
      {"mkdirat setgid", SYS_mkdirat, {0, 0, 02755}, EPERM},
      {"mknod setuid", SYS_mknod, {0, S_IFREG | 04755}, EPERM},
      {"mknod setgid", SYS_mknod, {0, S_IFREG | 02755}, EPERM},
      {"mknodat setuid", SYS_mknodat, {0, 0, S_IFREG | 04755}, EPERM},
      {"mknodat setgid", SYS_mknodat, {0, 0, S_IFREG | 02755}, EPERM},
      {"open setuid", SYS_open, {0, O_CREAT | O_WRONLY, 04755}, EPERM},
      {"open setgid", SYS_open, {0, O_CREAT | O_WRONLY, 02755}, EPERM},
      {"open setuid, no name", SYS_open, {0, O_TMPFILE | O_RDWR, 04755}, EPERM},
      {"open setuid, high bits", SYS_open, {0, O_CREAT | kHigh, 04755 | kHigh}, EPERM},
      {"openat setuid", SYS_openat, {0, 0, O_CREAT | O_WRONLY, 04755}, EPERM},
      {"openat setgid", SYS_openat, {0, 0, O_CREAT | O_WRONLY, 02755}, EPERM},
      {"openat setuid, no name", SYS_openat, {0, 0, O_TMPFILE | O_RDWR, 04755}, EPERM},
      {"openat setgid, no directory", SYS_openat, {0, 0, kTmpfileBit | O_RDWR, 02755}, EPERM},
  };
  return kAll;
}

TEST(SeccompTest, ListedCallsAreAllowed) {
  const auto filters = compiled();
  std::set<int> seen;
  for (const int call : allowed_calls()) {
    EXPECT_TRUE(seen.insert(call).second) << call << " is listed twice";
    const Arguments benign{call == SYS_socket ? AF_INET : std::uint64_t{0}};
    EXPECT_EQ(evaluate(filters, make_call(call, benign)), kAllow) << call;
  }
}

TEST(SeccompTest, AllOtherNumbersDoNotExist) {
  const auto filters = compiled();
  const std::set<int> listed(allowed_calls().begin(), allowed_calls().end());
  for (int call = 0; call < 5000; ++call) {
    if (listed.contains(call)) continue;
    EXPECT_EQ(evaluate(filters, make_call(call)), refused(ENOSYS)) << call;
  }
  for (const long call : {0x3fff'ffffL, -1L}) EXPECT_EQ(answer(call), refused(ENOSYS)) << call;
}

TEST(SeccompTest, DangerousCallsDoNotExist) {
  for (const long call : {SYS_clone3,
                          SYS_openat2,
                          SYS_unshare,
                          SYS_setns,
                          SYS_mount,
                          SYS_umount2,
                          SYS_pivot_root,
                          SYS_chroot,
                          SYS_open_tree,
                          SYS_move_mount,
                          SYS_fsopen,
                          SYS_fsmount,
                          SYS_mount_setattr,
                          SYS_ptrace,
                          SYS_process_vm_readv,
                          SYS_process_vm_writev,
                          SYS_process_madvise,
                          SYS_process_mrelease,
                          SYS_kcmp,
                          SYS_pidfd_getfd,
                          SYS_bpf,
                          SYS_perf_event_open,
                          SYS_userfaultfd,
                          SYS_io_uring_setup,
                          SYS_io_uring_enter,
                          SYS_io_uring_register,
                          SYS_io_setup,
                          SYS_io_submit,
                          SYS_add_key,
                          SYS_keyctl,
                          SYS_request_key,
                          SYS_open_by_handle_at,
                          SYS_name_to_handle_at,
                          SYS_fanotify_init,
                          SYS_fanotify_mark,
                          SYS_init_module,
                          SYS_finit_module,
                          SYS_delete_module,
                          SYS_kexec_load,
                          SYS_kexec_file_load,
                          SYS_reboot,
                          SYS_swapon,
                          SYS_swapoff,
                          SYS_acct,
                          SYS_quotactl,
                          SYS_settimeofday,
                          SYS_clock_settime,
                          SYS_clock_adjtime,
                          SYS_adjtimex,
                          SYS_iopl,
                          SYS_ioperm,
                          SYS_modify_ldt,
                          SYS_syslog,
                          SYS_sethostname,
                          SYS_vhangup,
                          SYS_sync,
                          SYS_mq_open,
                          SYS_msgget,
                          SYS_vmsplice,
                          SYS_memfd_secret,
                          SYS_remap_file_pages}) {
    EXPECT_EQ(answer(call), refused(ENOSYS)) << call;
  }
}

TEST(SeccompTest, ArgumentsAreRefused) {
  const auto filters = compiled();
  for (const Refusal& r : refusals()) {
    EXPECT_EQ(evaluate(filters, make_call(r.number, r.arguments)), refused(r.os_error)) << r.name;
  }
}

// So that the test above is known to be able to fail.
TEST(SeccompTest, WithoutTheChecksTheArgumentsWouldBeAllowed) {
  auto filters = compiled();
  for (sock_filter& instruction : filters.front()) {
    const bool returns = instruction.code == (BPF_RET | BPF_K);
    if (returns && (instruction.k == refused(EPERM) || instruction.k == refused(EAFNOSUPPORT))) {
      instruction.k = kAllow;
    }
  }
  for (const Refusal& r : refusals()) {
    EXPECT_EQ(evaluate(filters, make_call(r.number, r.arguments)), kAllow) << r.name;
  }
}

TEST(SeccompTest, OrdinaryArgumentsAreAllowed) {
  constexpr std::uint64_t kThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                    CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |
                                    CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
  EXPECT_EQ(answer(SYS_clone, {kThread}), kAllow);
  EXPECT_EQ(answer(SYS_clone, {CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD}), kAllow);
  EXPECT_EQ(answer(SYS_clone, {CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD}), kAllow);
  EXPECT_EQ(answer(SYS_ioctl, {0, TCGETS}), kAllow);
  EXPECT_EQ(answer(SYS_ioctl, {0, TIOCGWINSZ}), kAllow);
  for (const std::uint64_t family : {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK}) {
    EXPECT_EQ(answer(SYS_socket, {family}), kAllow) << family;
  }
  EXPECT_EQ(answer(SYS_personality, {0xffff'ffff}), kAllow);
  EXPECT_EQ(answer(SYS_personality, {~std::uint64_t{0}}), kAllow);
  EXPECT_EQ(answer(SYS_mkdir, {0, 01777}), kAllow) << "sticky";
  EXPECT_EQ(answer(SYS_openat, {0, 0, O_CREAT | O_WRONLY, 0644}), kAllow);
}

TEST(SeccompTest, ModeOfOpenIsNotReadUnlessAFileIsMade) {
  EXPECT_EQ(answer(SYS_open, {0, O_RDONLY, 07777}), kAllow);
  EXPECT_EQ(answer(SYS_openat, {0, 0, O_RDONLY | O_DIRECTORY, ~std::uint64_t{0}}), kAllow);
}

TEST(SeccompTest, WithoutUnixSocketsOnlyPairsAreLeft) {
  const SeccompOptions options{.unix_sockets = false};
  EXPECT_EQ(answer(SYS_socket, {AF_UNIX}, options), refused(EPERM));
  EXPECT_EQ(answer(SYS_socket, {AF_UNIX | kHigh}, options), refused(EPERM));
  EXPECT_EQ(answer(SYS_socketpair, {AF_UNIX}, options), kAllow);
  EXPECT_EQ(answer(SYS_socket, {AF_INET}, options), kAllow);
  EXPECT_EQ(answer(SYS_socket, {AF_NETLINK}, options), kAllow);
  EXPECT_EQ(answer(SYS_socket, {AF_PACKET}, options), refused(EAFNOSUPPORT));
}

TEST(SeccompTest, OtherArchitecturesKill) {
  const auto filters = compiled();
  for (std::uint32_t call = 0; call < 1000; ++call) {
    EXPECT_EQ(evaluate(filters, make_call(call, {}, AUDIT_ARCH_I386)), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(evaluate(filters, make_call(call | kX32Bit)), SECCOMP_RET_KILL_PROCESS);
    EXPECT_EQ(evaluate(filters, make_call(call | 0x8000'0000)), SECCOMP_RET_KILL_PROCESS);
  }
  EXPECT_EQ(evaluate(filters, make_call(0, {}, AUDIT_ARCH_AARCH64)), SECCOMP_RET_KILL_PROCESS);
}

// The refusals of a call are looked for in every bit of every argument.
TEST(SeccompTest, LibseccompCompilesThePolicyToTheSameAnswers) {
  for (const bool unix_sockets : {true, false}) {
    const SeccompOptions options{.unix_sockets = unix_sockets};
    const auto ours = compiled(options);
    const auto theirs = compile_by_libseccomp(options);
    ASSERT_EQ(theirs.size(), 2u);
    const auto compare = [&](long call, const Arguments& arguments) {
      const auto own = evaluate(ours, make_call(call, arguments));
      auto other = evaluate(theirs, make_call(call, arguments));
      // Theirs cannot say this one.
      if (call == SYS_personality && other == refused(ENOSYS)) other = refused(EPERM);
      EXPECT_EQ(own, other) << call << " " << arguments[0] << " " << arguments[1];
    };
    for (long call = 0; call < 600; ++call) {
      compare(call, {});
      for (std::uint64_t bit = 0; bit < 32; ++bit) {
        const std::uint64_t one = std::uint64_t{1} << bit;
        compare(call, {one});
        compare(call, {0, one});
        compare(call, {0, 0, one});
        compare(call, {0, 0, 0, one});
        compare(call, {0, O_CREAT, one, one});
        compare(call, {0, kTmpfileBit, O_CREAT, one});
        compare(call, {bit, TIOCSTI, kTmpfileBit, one});
      }
    }
    for (const Refusal& r : refusals()) compare(r.number, r.arguments);
  }
}

TEST(SeccompTest, StaysShort) {
  // Attaching takes time with every instruction; 120 at the time of writing.
  std::size_t instructions = 0;
  for (const BpfProgram& program : compiled()) instructions += program.size();
  EXPECT_LE(instructions, 160u);
}

TEST(Seccomp, NurseryMayGiveChildrenToItsParentAndNothingElseMore) {
  const SeccompOptions nursery{.nursery = true};
  EXPECT_EQ(answer(SYS_clone, {CLONE_PARENT}, nursery), kAllow);
  EXPECT_EQ(answer(SYS_clone, {CLONE_PARENT | CLONE_NEWUSER}, nursery), refused(EPERM));
  for (long call = 0; call < 600; ++call) {
    for (const std::uint64_t first : {std::uint64_t{0}, ~std::uint64_t{CLONE_PARENT}}) {
      EXPECT_EQ(answer(call, {first}, nursery), answer(call, {first})) << call;
    }
  }
}

}  // namespace
}  // namespace cordon::linux_backend
