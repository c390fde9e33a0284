#include "backend/linux/program_limits.h"

#include <sys/resource.h>

#include <cerrno>

#include "backend/posix/rlimits.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

// A core dump would hold what the program was given: 1 is the limit that also keeps the kernel from
// piping one to a program of the host. Where the caller may have none at all, it cannot be raised.
rlim_t core_limit() {
  rlimit own{};
  return ::getrlimit(RLIMIT_CORE, &own) == 0 && own.rlim_max == 0 ? 0 : 1;
}

}  // namespace

ProgramLimits program_limits(const plan::SandboxPlan& plan, int descriptors) {
  // What a group limits needs no rlimit.
  Limits limits = plan.limits;
  if (plan.groups.memory_bytes) limits.memory_bytes.reset();
  limits.processes = plan.rlimit_processes;
  std::vector<posix::RlimitSetting> all(posix::kMaxRlimits);
  all.resize(posix::rlimits_for(limits, all));
  const rlim_t core = core_limit();
  all.push_back({RLIMIT_CORE, core, core});

  ProgramLimits sorted;
  for (const posix::RlimitSetting& limit : all) {
    const bool in_the_way =
        limit.resource == RLIMIT_NOFILE && limit.soft < static_cast<std::uint64_t>(descriptors);
    (in_the_way ? sorted.later : sorted.now).push_back(limit);
  }
  return sorted;
}

Result<void> set_limits(pid_t program, const std::vector<posix::RlimitSetting>& limits) {
  for (const posix::RlimitSetting& limit : limits) {
    const rlimit wanted{.rlim_cur = limit.soft, .rlim_max = limit.hard};
    // NOLINTNEXTLINE(bugprone-narrowing-conversions): its type is an enumeration in C++
    if (::prlimit(program, static_cast<__rlimit_resource>(limit.resource), &wanted, nullptr) == 0) {
      continue;
    }
    const std::string name(posix::limit_name(limit.resource));
    Error error = base::fail_os("limit:" + name, errno,
                                "setting the limit \"" + name + "\" to " +
                                    std::to_string(limit.soft) + ", so the program was not run")
                      .error();
    error.code = ErrorCode::limit_not_applied;
    return std::unexpected(std::move(error));
  }
  return {};
}

}  // namespace cordon::linux_backend
