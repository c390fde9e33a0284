// The plan of a sandboxed run: a pure function of what is asked for and what the host can do.
//
// Typed steps for the linux backend, and for each guarantee the mechanism that keeps it or the
// reason why none does. Nothing here looks at the file system: what is `optional` is left out by
// the backend if the host does not have it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/outcome.h"
#include "cordon/plan.h"
#include "cordon/request.h"
#include "plan/host.h"

namespace cordon::plan {

// One thing at one place of the new root, in the order of mounting.
struct View {
  enum class Kind : std::uint8_t {
    bind,     // `source` of the host
    device,   // a device node of the host
    tmpfs,    // fresh and empty
    file,     // a read-only file with `content`
    symlink,  // to `content`
    proc,
    devpts,
  };
  Kind kind = Kind::bind;
  std::string target;
  std::string source{};
  std::string content{};
  bool writable = false;
  bool optional = false;      // left out if the host has no such path; a symlink stays one
  bool granted = false;       // by the request, not by default: files appear as the program's own
  std::uint64_t size = 0;     // tmpfs
  std::uint32_t mode = 0755;  // tmpfs
};

struct Identity {
  std::uint32_t uid = 0;  // inside
  std::uint32_t gid = 0;
  std::optional<User> host;  // none: one of the run's own, from the backend's range
};

// Limits kept by control groups; empty: not by those.
struct GroupLimits {
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> processes;
  std::optional<std::uint32_t> cpu_millicores;
};

struct SandboxPlan {
  std::vector<View> root;
  std::string cwd;  // inside
  Identity identity;
  Network network = Network::none;
  bool unix_sockets = true;
  int landlock_abi = 0;  // 0: not used
  GroupLimits groups;
  Limits limits;               // all of them, for rlimits and the supervisor
  bool sample_memory = false;  // no group: the supervisor looks at the tree now and then
  bool sample_processes = false;
  Enforcement enforcement;
};

// Where the caller is: what a plan needs to know besides the request.
struct Caller {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string cwd;   // absolute
  std::string home;  // empty: none
};

// Errors: invalid_argument (a grant that contradicts itself, the working directory is / or the
// home directory), unsupported (a namespace that does not work here: never a run with less
// isolation than this backend stands for).
[[nodiscard]] Result<SandboxPlan> make_sandbox_plan(const Request& request, const Limits& limits,
                                                    const Caller& caller,
                                                    const HostCapabilities& host);

// The same, to be read.
[[nodiscard]] Plan describe(const SandboxPlan& plan);

}  // namespace cordon::plan
