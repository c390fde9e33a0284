#include "backend/posix/posix_backend.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "backend/posix/posix_child.h"
#include "base/errors.h"
#include "base/fd.h"
#include "supervise/supervising_manager.h"

namespace cordon {
namespace posix {
namespace {

using Level = Guarantee::Level;

constexpr const char* kNotAsked = "no limit was asked for";
constexpr const char* kNoIsolation = "the posix backend does not isolate";

Guarantee memory_guarantee(bool asked) {
  if (!asked) return {Level::none, "", kNotAsked};
  return {Level::partial, "RLIMIT_DATA", "each process of the tree may use as much"};
}

Guarantee cpu_guarantee(bool asked) {
  if (!asked) return {Level::none, "", kNotAsked};
  return {Level::partial, "the program's processor clock and RLIMIT_CPU",
          "each process of the tree may use as much"};
}

Guarantee processes_guarantee(bool asked) {
  if (!asked) return {Level::none, "", kNotAsked};
  if (::geteuid() == 0) return {Level::none, "", "root is exempt from RLIMIT_NPROC"};
  return {Level::partial, "RLIMIT_NPROC", "counts all processes of the user"};
}

bool kernel_has_pidfds() {
  const base::Fd self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  return static_cast<bool>(self);
}

}  // namespace

PosixBackend::PosixBackend(bool use_pidfd) : use_pidfd_(use_pidfd) {}

Enforcement enforcement_of(const Limits& limits) {
  const Guarantee none{Level::none, "", kNoIsolation};
  return {
      .memory = memory_guarantee(limits.memory_bytes.has_value()),
      .cpu = cpu_guarantee(limits.cpu_time.has_value()),
      .processes = processes_guarantee(limits.processes.has_value()),
      .filesystem = none,
      .network = none,
      .syscalls = none,
      .capabilities = none,
      .timeout = {Level::enforced, "the supervisor's deadline and SIGKILL to the process group",
                  ""},
  };
}

Capabilities PosixBackend::capabilities() const {
  Limits all;
  all.memory_bytes = 1;
  all.cpu_time = Duration{1};
  all.processes = 1;
  return {
      .backend = std::string(name()),
      .enforcement = enforcement_of(all),
      .gaps =
          {
              "Memory and processor-time limits hold for each process, not for the tree.",
              "A descendant that leaves the process group (setsid) is not killed with it.",
              "Programs see the caller's files, network and other processes.",
              "A program outlives a supervisor that is killed.",
              "Peak memory is known only where it is above the caller's own.",
          },
  };
}

Result<void> PosixBackend::check(const Request& request, const Limits& limits) {
  if (limits.cpu_millicores) {
    return base::fail(ErrorCode::unsupported, "limit:cpu",
                      "the posix backend cannot bound the share of the processors: "
                      "leave cpu_millicores unset or use a backend with control groups");
  }
  // Never a run with less isolation than asked for. Network::none is what nobody asked for.
  const auto refuse = [](std::string_view field, std::string_view why) {
    return base::fail(ErrorCode::unsupported, "isolate",
                      "the posix backend cannot give " + std::string(field) + ": " +
                          std::string(why) + "; leave it out or use the linux backend");
  };
  if (!request.root.empty()) return refuse("a root", "the program sees the caller's files");
  if (!request.grants.empty()) return refuse("grants", "the program sees the caller's files");
  if (!request.pins.empty()) {
    return refuse("pins", "a file that was checked can be replaced before it is executed");
  }
  if (request.network != Network::none) {
    return refuse("network", "the program has the caller's network in any case");
  }
  if (!request.unix_sockets) return refuse("unix_sockets = false", "it filters no system calls");
  if (request.explain) return refuse("explain", "it refuses the program nothing");
  if (request.user) return refuse("user", "the program runs as the caller");
  if (request.end_at_process_limit) {
    return refuse("end_at_process_limit", "it does not learn of a fork that was refused");
  }
  if (!request.cgroup_parent.empty()) return refuse("cgroup_parent", "it makes no control groups");
  for (const Secret& secret : request.secrets) {
    if (secret.delivery != Secret::Delivery::file) continue;
    return base::fail(ErrorCode::unsupported, "isolate",
                      "the posix backend cannot give secret " + secret.name +
                          " as a file: it has no file system that only the program sees; deliver "
                          "it by env or fd, or use the linux backend");
  }
  return {};
}

Result<std::unique_ptr<supervise::Child>> PosixBackend::prepare(const Request& request,
                                                                const Limits& limits) {
  if (auto ok = check(request, limits); !ok) return std::unexpected(std::move(ok.error()));
  return std::make_unique<PosixChild>(use_pidfd_, limits);
}

}  // namespace posix

Result<std::unique_ptr<Manager>> posix_manager() {
  return std::make_unique<supervise::SupervisingManager>(
      std::make_unique<posix::PosixBackend>(posix::kernel_has_pidfds()));
}

}  // namespace cordon
