#include "backend/linux/probe_security.h"

#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "backend/linux/probe_files.h"
#include "base/errors.h"

namespace cordon::linux_backend {

void probe_landlock(plan::HostCapabilities& host) {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, std::size_t{0},
                             LANDLOCK_CREATE_RULESET_VERSION);
  const int error = errno;
  if (abi > 0) {
    host.landlock_abi = static_cast<int>(abi);
    host.landlock_why.clear();
    return;
  }
  host.landlock_abi = 0;
  if (error == ENOSYS) {
    host.landlock_why = "this kernel has no Landlock (Linux 5.13 with CONFIG_SECURITY_LANDLOCK)";
  } else if (error == EOPNOTSUPP) {
    host.landlock_why =
        "Landlock is switched off: add landlock to lsm= on the kernel's command line";
  } else {
    host.landlock_why = "Landlock is refused here: " + base::errno_text(error);
  }
}

plan::Feature probe_seccomp() {
  const std::uint32_t action = SECCOMP_RET_KILL_PROCESS;
  if (::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0U, &action) == 0) return {.works = true};
  const int error = errno;
  return {false, "seccomp filters are not available: " + base::errno_text(error),
          "use Linux 4.14 or later, built with CONFIG_SECCOMP_FILTER"};
}

bool probe_privileged() {
  constexpr std::uint64_t kNeeded = std::uint64_t{1} << CAP_SYS_ADMIN |
                                    std::uint64_t{1} << CAP_SETUID | std::uint64_t{1} << CAP_SETGID;
  const auto status = read_small_file("/proc/self/status");
  if (!status || (effective_capabilities(*status) & kNeeded) != kNeeded) return false;
  // "Root" of a user namespace with a single id has no others to give.
  constexpr std::uint64_t kEnough = 65536;
  return ids_mapped(read_small_file("/proc/self/uid_map").value_or("")) >= kEnough;
}

plan::Feature probe_idmapped_mounts(bool privileged) {
  if (!privileged) {
    return {false, "only a privileged caller can make them, and only such a caller needs them", ""};
  }
  // Came with the system call, which refuses arguments of size 0.
  (void)::syscall(SYS_mount_setattr, -1, "", 0U, nullptr, std::size_t{0});
  const int error = errno;
  if (error == EINVAL) return {.works = true};
  if (error == ENOSYS) return {false, "this kernel has none", "use Linux 5.12 or later"};
  return {false, "mount_setattr is refused here: " + base::errno_text(error),
          "allow mount_setattr in the seccomp profile"};
}

}  // namespace cordon::linux_backend
