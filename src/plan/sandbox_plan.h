// The plan of a sandboxed run: a pure function of what is asked for and what the host can do.
//
// Typed steps for the linux backend, and for each guarantee the mechanism that keeps it or the
// reason why none does. Nothing here looks at the file system: what is `optional` is left out by
// the backend if the host does not have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/outcome.h"
#include "cordon/plan.h"
#include "cordon/request.h"
#include "plan/host.h"

namespace cordon::plan {

// Where Cordon keeps what its runs share on this host. No sandbox sees it.
inline constexpr std::string_view kRuntimeDirectory = "/run/cordon";

// One thing at one place of the new root, in the order of mounting.
struct View {
  enum class Kind : std::uint8_t {
    bind,     // `source` of the host
    device,   // a device node of the host
    tmpfs,    // fresh and empty
    secrets,  // a file for each secret that is delivered as one
    file,     // a read-only file with `content`
    symlink,  // to `content`
    proc,
    devpts,
  };
  Kind kind = Kind::bind;
  std::string target;
  std::string source{};  // tmpfs: what it lies over; optional: only if the host has that directory
  std::string content{};
  bool writable = false;  // a tmpfs that is not gets read-only once all is in it
  bool optional = false;  // left out if the host has no such path; a symlink stays one
  bool follow = false;    // optional, but a symlink is followed on the host
  // By the request, not by default: files appear as the program's own. Not so for what a request
  // names in a system directory, where that would open /etc/shadow.
  bool granted = false;
  std::uint64_t size = 0;     // tmpfs
  std::uint32_t mode = 0755;  // tmpfs

  friend bool operator==(const View&, const View&) = default;
};

struct Identity {
  std::uint32_t uid = 0;  // inside
  std::uint32_t gid = 0;
  std::optional<User> host;  // none: one of the run's own, from the backend's range

  friend bool operator==(const Identity&, const Identity&) = default;
};

// Limits kept by control groups; empty: not by those.
struct GroupLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> processes;  // the sandbox's init included
  std::optional<std::uint32_t> cpu_millicores;
  bool cpu_clock = false;  // the group's processor time is what limits.cpu_time is held against

  friend bool operator==(const GroupLimits&, const GroupLimits&) = default;
};

// What is at the places of a given root (Request::root): of each, the whole with all that is in it.
// Listed by a backend.
struct RootEntry {
  enum class Kind : std::uint8_t { directory, file, symlink };
  Kind kind = Kind::directory;
  std::string path;    // inside, e.g. "/usr"; a directory that is listed in parts is not itself one
  std::string link{};  // symlink: where it leads, inside

  friend bool operator==(const RootEntry&, const RootEntry&) = default;
};
struct RootDirectory {
  std::string source;  // on the host, links resolved
  std::vector<RootEntry> entries{};
  std::vector<std::string> network_files{};  // of /etc/hosts and /etc/resolv.conf, those it has
};

struct SandboxPlan {
  std::vector<View> root;
  std::string rootfs;  // the directory that most of `root` comes from; empty: the host's own system
  // Single files of the root, by the request's pins: each lies on what `root` shows at its place,
  // and is mounted from the pin's descriptor.
  std::vector<View> pins;
  std::string cwd;  // inside
  Identity identity;
  Network network = Network::none;
  bool unix_sockets = true;
  std::vector<std::string> secrets;            // "NAME by env": what is known of them outside
  bool explain = false;                        // what is refused is reported
  std::optional<Tenant> reuse;                 // whose leftovers may serve it
  int landlock_abi = 0;                        // 0: not used
  CgroupVersion cgroup = CgroupVersion::none;  // none: no group is needed, or there is none
  std::string cgroup_parent;
  GroupLimits groups;
  Limits limits;                                  // all of them, for rlimits and the supervisor
  std::optional<std::uint64_t> rlimit_processes;  // no group: RLIMIT_NPROC, init included
  bool sample_memory = false;  // no group: the supervisor looks at the tree now and then
  bool sample_processes = false;
  bool sample_cpu = false;
  Enforcement enforcement;
};

// Where the caller is: what a plan needs to know besides the request.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string cwd;   // absolute
  std::string home;  // empty: none
  // Directories of Cordon's own besides kRuntimeDirectory, as the kernel names them: no sandbox
  // sees them.
  std::vector<std::string> own{};
  // Where images are unpacked: one of them may be a root, and nothing else is seen of it. Empty:
  // nowhere.
  std::string images{};

  friend bool operator==(const Caller&, const Caller&) = default;
};

// `limits` are the request's with the defaults filled in; the request is validated. Errors, all of
// stage "plan": invalid_argument (a grant that contradicts itself or shows what no sandbox may see,
// the working directory is / or the home directory), not_permitted (a user the caller may not
// choose), unsupported (a namespace that does not work here: never a run with less isolation than
// this backend stands for; idmapped mounts or groups that the request cannot do without).
// `root`: what Request::root has in it; null if that is empty.
[[nodiscard]] Result<SandboxPlan> make_sandbox_plan(const Request& request, const Limits& limits,
                                                    const Caller& caller,
                                                    const HostCapabilities& host,
                                                    const RootDirectory* root = nullptr);

// The same, to be read.
[[nodiscard]] Plan describe(const SandboxPlan& plan);

}  // namespace cordon::plan
