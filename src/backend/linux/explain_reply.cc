#include "backend/linux/explain_reply.h"

#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>

#include "backend/linux/bpf_evaluator.h"
#include "backend/linux/seccomp_calls.h"
#include "backend/linux/seccomp_names.h"

namespace cordon::linux_backend {
namespace {

std::string family_name(std::uint32_t family) {
  switch (family) {
    case AF_UNIX:
      return "unix";
    case AF_PACKET:
      return "packet";
    case AF_ALG:
      return "alg";
    case AF_VSOCK:
      return "vsock";
    case AF_XDP:
      return "xdp";
    default:
      return "number " + std::to_string(family);
  }
}

// Why, where the same call is allowed with other arguments or something else takes its place.
std::string reason_of(const seccomp_data& call) {
  switch (call.nr) {
    case SYS_clone:
      return (call.args[0] & CLONE_PARENT) != 0 ? "no program makes children for its parent"
                                                : "no program makes namespaces";
    case SYS_clone3:
      return "cannot be inspected; the C library uses clone instead";
    case SYS_openat2:
      return "cannot be inspected; the C library uses openat instead";
    case SYS_ioctl:
      return "this request to a terminal is never allowed";
    case SYS_personality:
      return "only the usual persona is allowed";
    case SYS_socket: {
      const auto family = static_cast<std::uint32_t>(call.args[0]);
      if (family == AF_UNIX) return "unix sockets are ruled out, by --no-unix or the policy";
      return "sockets of the family " + family_name(family) + " are never allowed";
    }
    case SYS_open:
    case SYS_openat:
    case SYS_creat:
    case SYS_chmod:
    case SYS_fchmod:
    case SYS_fchmodat:
    case kFchmodat2:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_mknod:
    case SYS_mknodat:
      return "setuid and setgid bits are never allowed";
    default:
      return "not among the system calls of a sandbox";
  }
}

}  // namespace

int reply_to(const std::vector<BpfProgram>& ordinary, const seccomp_data& call) {
  if (ordinary.empty()) return ENOSYS;  // a bug; without rules nothing goes on
  const auto answer = evaluate(ordinary, call);
  if (!answer) return ENOSYS;
  if (*answer == SECCOMP_RET_ALLOW) return 0;
  const auto error = static_cast<int>(*answer & SECCOMP_RET_DATA);
  const bool refused = (*answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
  return refused && error != 0 ? error : ENOSYS;
}

Denial refused_call(const seccomp_data& call) {
  return {.kind = Denial::Kind::system_call,
          .what = system_call_name(call.nr),
          .access = "call",
          .reason = reason_of(call)};
}

}  // namespace cordon::linux_backend
