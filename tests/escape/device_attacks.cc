// Devices, and the files by which the kernel is asked and told things.
#include "escape/attacks.h"

namespace cordon::escape {
namespace {

const Unguarded kAsRoot{.no_sandbox = true, .needs_root = true};

}  // namespace

std::vector<Attack> device_attacks() {
  return {
      {"CannotReadHostDisks",
       told({"open-to-read", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/loop0"}),
       {.no_sandbox = true,
        .needs_root = true,
        .may_be_missing = "this host has no disk of a usual name"}},
      {"CannotMakeDiskNode",
       [](const Bait& b) -> Words { return {"disk-node", b.writable("disk")}; }, kAsRoot},
      {"CannotReadKernelMemory",
       told({"open-to-read", "/dev/mem", "/proc/kcore", "/dev/kmem", "/dev/port"}),
       {.no_sandbox = true,
        .needs_root = true,
        .may_be_missing = "this kernel shows its memory to nobody"}},
      {"CannotReadKernelLogDevice", told({"open-to-read", "/dev/kmsg"}), kAsRoot},
      {"CannotOpenVirtualMachineDevices",
       told({"open-to-write", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control"}),
       {.no_sandbox = true, .needs_root = true, .may_be_missing = "this kernel has none of them"}},
      {"CannotWriteSysctl",
       told({"open-to-write", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",
             "/proc/sys/vm/overcommit_memory", "/proc/sys/fs/file-max", "/proc/sys/kernel/hostname",
             "/proc/sys/user/max_user_namespaces"}),
       kAsRoot},
      {"CannotTriggerSysrq",
       told({"open-to-write", "/proc/sysrq-trigger"}),
       {.no_sandbox = true, .needs_root = true, .may_be_missing = "this kernel has no sysrq"}},
      {"CannotSeeSysfs", told({"list", "/sys"}), {.no_sandbox = true}},
      {"CannotSeeCgroupFileSystem", told({"list", "/sys/fs/cgroup"}), {.no_sandbox = true}},
      {"CannotLeaveControlGroup",
       told({"open-to-write", "/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/pids/tasks",
             "/sys/fs/cgroup/unified/cgroup.procs"}),
       kAsRoot},
  };
}

}  // namespace cordon::escape
