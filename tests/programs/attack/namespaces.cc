// New namespaces, other namespaces, and mounts.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "attack.h"

namespace attack {
namespace {

constexpr unsigned kOpenTreeClone = 1;

// A child that was made ends at once.
[[noreturn]] void judge_child(std::string_view what, long pid) {
  if (pid == 0) ::_exit(0);
  judge(what, pid);
}

void by_unshare(Args args) {
  judge("unshare", ::syscall(SYS_unshare, std::strtoul(args[0], nullptr, 0)));
}

void by_clone(Args args) {
  const auto flags = std::strtoul(args[0], nullptr, 0) | SIGCHLD;
  judge_child("clone", ::syscall(SYS_clone, flags, 0, 0, 0, 0));
}

void by_clone3(Args args) {
  clone_args how{};
  how.flags = std::strtoul(args[0], nullptr, 0);
  how.exit_signal = SIGCHLD;
  judge_child("clone3", ::syscall(SYS_clone3, &how, sizeof how));
}

void enter_namespace(Args args) {
  const int fd = ::open(args[0], O_RDONLY | O_CLOEXEC);
  if (fd < 0) stopped("open");
  if (::syscall(SYS_setns, fd, 0) == 0) reached("setns");
  try_to_gain_capabilities();
  const int own = ::open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  judge("setns", ::syscall(SYS_setns, own, 0));
}

void mount_tmpfs(Args args) {
  try_to_gain_capabilities();
  judge("mount", ::mount("none", args[0], "tmpfs", 0, nullptr));
}

void mount_bind(Args args) {
  try_to_gain_capabilities();
  judge("mount", ::mount(args[0], args[1], nullptr, MS_BIND | MS_REC, nullptr));
}

void mount_proc(Args args) {
  try_to_gain_capabilities();
  judge("mount", ::mount("proc", args[0], "proc", 0, nullptr));
}

void open_filesystem(Args /*args*/) {
  try_to_gain_capabilities();
  judge("fsopen", ::syscall(SYS_fsopen, "tmpfs", 0));
}

void clone_tree(Args args) {
  try_to_gain_capabilities();
  judge("open_tree", ::syscall(SYS_open_tree, AT_FDCWD, args[0], kOpenTreeClone));
}

void remount_writable(Args args) {
  judge("mount",
        ::mount("none", args[0], nullptr, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, nullptr));
}

void set_mount_writable(Args args) {
  struct {
    std::uint64_t set = 0;
    std::uint64_t clear = 1;  // MOUNT_ATTR_RDONLY
    std::uint64_t propagation = 0;
    std::uint64_t user_namespace = 0;
  } change;
  judge("mount_setattr",
        ::syscall(SYS_mount_setattr, AT_FDCWD, args[0], 0, &change, sizeof change));
}

void unmount(Args args) { judge("umount2", ::umount2(args[0], MNT_DETACH)); }

void pivot(Args args) {
  try_to_gain_capabilities();
  (void)::mount("none", args[0], "tmpfs", 0, nullptr);  // a mount of one's own
  if (::chdir(args[0]) != 0) untried("chdir");
  judge("pivot_root", ::syscall(SYS_pivot_root, ".", "."));
}

void change_root(Args args) {
  try_to_gain_capabilities();
  judge("chroot", ::chroot(args[0]));
}

void rename_host(Args /*args*/) {
  try_to_gain_capabilities();
  judge("sethostname", ::sethostname("taken-over", 10));
}

constexpr Entry kAll[] = {
    {"unshare", by_unshare, 1},
    {"clone", by_clone, 1},
    {"clone3", by_clone3, 1},
    {"enter-namespace", enter_namespace, 1},
    {"mount-tmpfs", mount_tmpfs, 1},
    {"mount-bind", mount_bind, 2},
    {"mount-proc", mount_proc, 1},
    {"open-filesystem", open_filesystem},
    {"clone-tree", clone_tree, 1},
    {"remount-writable", remount_writable, 1},
    {"set-mount-writable", set_mount_writable, 1},
    {"unmount", unmount, 1},
    {"pivot", pivot, 1},
    {"change-root", change_root, 1},
    {"rename-host", rename_host},
};

}  // namespace

std::span<const Entry> namespace_attacks() { return kAll; }

}  // namespace attack
