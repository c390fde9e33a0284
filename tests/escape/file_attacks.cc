#include <sys/statvfs.h>

#include "escape/attacks.h"

namespace cordon::escape {
namespace {

// The host's tree stays visible, and nothing else speaks for its files.
const Unguarded kHostsTree{.without = {"pivot_root", "host root", "landlock"},
                           .needs_public_tree = true};
const Unguarded kNoSandbox{.no_sandbox = true};

// As in an emulated machine that shares the host's.
std::string if_read_only() {
  struct statvfs system{};
  const bool read_only = ::statvfs("/usr", &system) == 0 && (system.f_flag & ST_RDONLY) != 0;
  return read_only ? "the system's directories are on a read-only file system" : "";
}

// What was granted to read is granted to write.
const Unguarded kWriteGranted{.asked = [](Request& request, const Bait& bait) {
  request.grants.front() = Grant::write(bait.granted());
}};

}  // namespace

std::vector<Attack> file_attacks() {
  return {
      {"CannotReadFileOutsideGrant",
       [](const Bait& b) -> Words { return {"read", b.outside("secret")}; }, kHostsTree},
      {"CannotSeeFileOutsideGrant",
       [](const Bait& b) -> Words { return {"see", b.outside("secret")}; }, kHostsTree},
      {"CannotListDirectoryOutsideGrant",
       [](const Bait& b) -> Words { return {"list", b.outside()}; }, kHostsTree},
      {"CannotWriteFileOutsideGrant",
       [](const Bait& b) -> Words { return {"open-to-write", b.outside("secret")}; }, kNoSandbox},
      {"SymlinkInGrantDoesNotLeadOut",
       [](const Bait& b) -> Words { return {"read", b.granted("link")}; }, kHostsTree},
      {"DotDotDoesNotLeadOut",
       [](const Bait& b) -> Words { return {"read", b.granted("../outside/secret")}; }, kHostsTree},
      {"CannotWriteThroughReadOnlyGrant",
       [](const Bait& b) -> Words { return {"open-to-write", b.granted("plain")}; }, kWriteGranted},
      {"CannotCreateInReadOnlyGrant",
       [](const Bait& b) -> Words { return {"create", b.granted("new")}; }, kWriteGranted},
      {"CannotRemoveFromReadOnlyGrant",
       [](const Bait& b) -> Words { return {"remove", b.granted("plain")}; }, kWriteGranted},
      {"CannotLinkReadOnlyFileIntoWritableGrant",
       [](const Bait& b) -> Words { return {"link", b.granted("plain"), b.writable("plain")}; },
       kNoSandbox},
      {"CannotReadShadow", told({"read", "/etc/shadow"}), {.no_sandbox = true, .needs_root = true}},
      {"CannotReadHostsConfiguration", told({"read", "/etc/fstab"}), kNoSandbox},
      {.name = "CannotSeeRootsHome",
       .command = told({"see", "/root"}),
       .unguarded = kNoSandbox,
       .looks_for = "/root"},
      {"HostTmpIsNotVisible", [](const Bait& b) -> Words { return {"see", b.outside()}; },
       kNoSandbox},
      {"HostSharedMemoryFilesAreNotVisible",
       [](const Bait& b) -> Words { return {"read", b.shared_file()}; }, kNoSandbox},
      {"CannotWriteSystemDirectories",
       told({"may-write", "/usr", "/usr/bin", "/bin/sh", "/lib", "/etc", "/dev", "/"}),
       {.no_sandbox = true, .needs_root = true, .may_be_missing = if_read_only()}},
      {"CannotWritePasswd",
       told({"open-to-write", "/etc/passwd", "/etc/group", "/etc/hosts"}),
       {.no_sandbox = true, .needs_root = true, .may_be_missing = if_read_only()}},
      {"CannotSeeRuntimeDirectory", told({"see", "/run"}), kNoSandbox},
      {"CannotOpenFileByHandle",
       [](const Bait& b) -> Words {
         Words words{"open-by-handle", b.granted()};
         for (std::string& part : b.handle()) words.push_back(std::move(part));
         return words;
       },
       {.no_sandbox = true, .needs_root = true}},
  };
}

}  // namespace cordon::escape
