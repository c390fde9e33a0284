// Files that would be run with the caller's rights: a write grant of a root caller is root's own on
// the host.
#include "escape/attacks.h"

namespace cordon::escape {
namespace {

Attack leaves(std::string name, std::string way, Unguarded unguarded = {.without = {"seccomp"}}) {
  return {std::move(name),
          [way = std::move(way)](const Bait& b) -> Words { return {"set-ids", way, b.writable()}; },
          std::move(unguarded)};
}

}  // namespace

std::vector<Attack> mode_attacks() {
  return {
      leaves("CannotLeaveSetuidFileByChmod", "chmod"),
      leaves("CannotLeaveSetuidFileByFchmod", "fchmod"),
      leaves("CannotLeaveSetuidFileByFchmodat", "fchmodat"),
      leaves("CannotLeaveSetuidFileByFchmodat2", "fchmodat2",
             {.without = {"seccomp"}, .may_be_missing = "this kernel has no fchmodat2"}),
      leaves("CannotLeaveSetuidFileByBitsAboveTheMode", "wide-chmod"),
      leaves("CannotLeaveSetuidFileByOpen", "open"),
      leaves("CannotLeaveSetuidFileByOpenat", "openat"),
      leaves("CannotLeaveSetuidFileByOpenat2", "openat2"),
      leaves("CannotLeaveSetuidFileByCreat", "creat"),
      leaves("CannotLeaveSetuidFileByMknod", "mknod"),
      leaves("CannotLeaveSetuidFileByMknodat", "mknodat"),
      leaves("CannotLeaveSetuidFileByTmpfile", "tmpfile"),
      leaves("CannotLeaveSetgidDirectory", "directory"),
      leaves("CannotLeaveSetgidDirectoryByMkdir", "mkdir",
             {.never = "the kernel takes no such bit from mkdir"}),
      leaves("CannotLeaveSetuidSocket", "socket"),
      {"CannotLeaveFileCapabilities",
       [](const Bait& b) -> Words { return {"file-capability", b.writable("capable")}; },
       {.no_sandbox = true, .needs_root = true}},
  };
}

}  // namespace cordon::escape
