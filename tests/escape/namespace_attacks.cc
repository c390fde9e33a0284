#include <sched.h>

#include "escape/attacks.h"

namespace cordon::escape {
namespace {

// Without the filter a program makes a user namespace, and has every capability in it; Landlock
// would still refuse mounts.
const Unguarded kNoSeccomp{.without = {"seccomp"}};
const Unguarded kNoSeccompNoLandlock{.without = {"seccomp", "landlock"}};

std::string flags(unsigned value) { return std::to_string(value); }

// Outside any sandbox, in a mount namespace of its own with a read-only mount on granted/.
Unguarded on_private_mount(std::string what) {
  return {.command = [what = std::move(what)](const Bait& b) -> Words {
            return {"unshare",
                    "--mount",
                    "--propagation=private",
                    "sh",
                    "-ec",
                    "mount --bind \"$1\" \"$1\"; mount -o remount,bind,ro \"$1\"; "
                    "exec " CORDON_TEST_PROGRAMS_DIR "/attack \"$0\" \"$1\"",
                    what,
                    b.granted()};
          },
          .needs_root = true};
}

Command on_granted(std::string what) {
  return [what = std::move(what)](const Bait& b) -> Words { return {what, b.granted()}; };
}

}  // namespace

std::vector<Attack> namespace_attacks() {
  return {
      {"CannotMakeUserNamespaceByUnshare", told({"unshare", flags(CLONE_NEWUSER)}), kNoSeccomp},
      {"CannotMakeUserNamespaceByClone", told({"clone", flags(CLONE_NEWUSER)}), kNoSeccomp},
      {"CannotMakeUserNamespaceByClone3", told({"clone3", flags(CLONE_NEWUSER)}), kNoSeccomp},
      {"CannotMakeEveryNamespace",
       told({"unshare", flags(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                              CLONE_NEWIPC | CLONE_NEWUTS)}),
       kNoSeccomp},
      {"CannotEnterNamespace", told({"enter-namespace", "/proc/self/ns/uts"}), kNoSeccomp},
      {"CannotMount", told({"mount-tmpfs", "/tmp"}), kNoSeccompNoLandlock},
      {"CannotMountProc",
       told({"mount-proc", "/tmp"}),
       {.never = "needs a pid namespace of the attacker's own around it"}},
      {"CannotBindMount", told({"mount-bind", "/usr", "/tmp"}), kNoSeccompNoLandlock},
      {"CannotOpenFileSystem", told({"open-filesystem"}), kNoSeccomp},
      {"CannotCloneMountTree", told({"clone-tree", "/dev/shm"}), kNoSeccompNoLandlock},
      {"CannotRemountWritable", on_granted("remount-writable"),
       on_private_mount("remount-writable")},
      {"CannotSetMountWritable", on_granted("set-mount-writable"),
       on_private_mount("set-mount-writable")},
      {"CannotUnmount", on_granted("unmount"), on_private_mount("unmount")},
      {"CannotPivot", told({"pivot", "/tmp"}), kNoSeccompNoLandlock},
      {"CannotChangeRoot", told({"change-root", "/tmp"}), kNoSeccomp},
      {"CannotChangeHostName", told({"rename-host"}), kNoSeccomp},
  };
}

}  // namespace cordon::escape
