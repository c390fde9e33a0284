#include "backend/linux/privileges.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>

namespace cordon::linux_backend {

void forbid_gaining(ScriptBuilder& script) {
  script.about("capabilities");
  script.call(__NR_prctl, {PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0});
  // A kernel that has more than these is found out by the verification: its bounding set is not
  // empty then. One that has fewer says EINVAL.
  constexpr int kHighest = 47;
  for (int capability = 0; capability <= kHighest; ++capability) {
    script.call(__NR_prctl, {PR_CAPBSET_DROP, capability, 0, 0, 0},
                capability > CAP_LAST_CAP ? EINVAL : 0);
  }
  constexpr std::uint64_t kNoRoot = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                                    SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                                    SECBIT_NO_CAP_AMBIENT_RAISE |
                                    SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
  script.call(__NR_prctl, {PR_SET_SECUREBITS, kNoRoot, 0, 0, 0});
  script.about("no_new_privs");
  script.call(__NR_prctl, {PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0});
}

void drop_capabilities(ScriptBuilder& script) {
  script.about("capabilities");
  const __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[2]{};
  script.call(__NR_capset, {script.object(header), script.bytes(none, sizeof none)});
}

namespace {

// An address in the memory of the spawner's children.
void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uint64_t filter_program(ScriptBuilder& script, const BpfProgram& filter) {
  struct {
    std::uint16_t length;
    std::uint64_t filter;
  } const program{
      .length = static_cast<std::uint16_t>(filter.size()),
      .filter = script.bytes(filter.data(), filter.size() * sizeof(sock_filter)),
  };
  return script.object(program);
}

}  // namespace

void install_filters(ScriptBuilder& script, const std::vector<BpfProgram>& filters) {
  script.about("seccomp");
  for (const BpfProgram& filter : filters) {
    script.call(__NR_seccomp, {SECCOMP_SET_MODE_FILTER, 0, filter_program(script, filter)});
  }
}

void install_listening_filter(ScriptBuilder& script, const BpfProgram& filter, unsigned flags) {
  const spawner::Report report{.kind = spawner::ReportKind::listening,
                               .role = spawner::Role::program,
                               .unused = {},
                               .step = 0,
                               .error = 0,
                               .value = 0};
  const iovec part{.iov_base = pointer(script.object(report)), .iov_len = sizeof report};
  struct {  // a cmsghdr and what follows it
    std::size_t length = CMSG_LEN(sizeof(int));
    int level = SOL_SOCKET;
    int type = SCM_RIGHTS;
    int fd = -1;
    int padding = 0;
  } const control;
  static_assert(sizeof control == CMSG_SPACE(sizeof(int)));
  static_assert(offsetof(decltype(control), fd) == CMSG_LEN(0));
  const std::uint64_t control_at = script.object(control);
  msghdr message{};
  message.msg_iov = static_cast<iovec*>(pointer(script.object(part)));
  message.msg_iovlen = 1;
  message.msg_control = pointer(control_at);
  message.msg_controllen = sizeof control;
  const std::uint64_t message_at = script.object(message);

  script.about("seccomp");
  const Register listener = script.call_into(
      __NR_seccomp, {SECCOMP_SET_MODE_FILTER, flags, filter_program(script, filter)});
  // From here on nothing may be called that asks: nobody would answer.
  script.op(spawner::Op::store, {control_at + offsetof(decltype(control), fd), listener});
  script.call(__NR_sendmsg, {spawner::kStatusFd, message_at, MSG_NOSIGNAL});
  script.close(listener);
}

BpfProgram init_filter() {
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 9),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_pause, 8, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_munmap, 7, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 6, 0),
      // To say that it is ready, to hear the answer, and to close where it said so.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_sendto, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_read, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, spawner::kStatusFd, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

}  // namespace cordon::linux_backend
