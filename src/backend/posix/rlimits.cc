#include "backend/posix/rlimits.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>

namespace cordon::posix {
namespace {

RlimitSetting bounded(int resource, std::uint64_t soft, std::uint64_t hard) {
  rlimit own{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &own) == 0) {
    soft = std::min<std::uint64_t>(soft, own.rlim_max);
    hard = std::min<std::uint64_t>(hard, own.rlim_max);
  }
  return {resource, soft, hard};
}

}  // namespace

std::size_t rlimits_for(const Limits& limits, std::span<RlimitSetting> out) {
  std::size_t count = 0;
  const auto add = [&](int resource, std::uint64_t soft, std::uint64_t hard) {
    out[count++] = bounded(resource, soft, hard);
  };
  if (limits.cpu_time) {
    // Whole seconds only: a backstop for each process of the tree, behind the supervisor's own
    // measurement of the program. SIGXCPU at the soft limit, SIGKILL at the hard one.
    const auto seconds = static_cast<std::uint64_t>(
        std::chrono::ceil<std::chrono::seconds>(*limits.cpu_time).count());
    add(RLIMIT_CPU, seconds, seconds + 1);
  }
  // Not RLIMIT_AS: address space is not memory, and runtimes reserve plenty of it.
  if (limits.memory_bytes) add(RLIMIT_DATA, *limits.memory_bytes, *limits.memory_bytes);
  if (limits.file_size_bytes) add(RLIMIT_FSIZE, *limits.file_size_bytes, *limits.file_size_bytes);
  if (limits.open_files) add(RLIMIT_NOFILE, *limits.open_files, *limits.open_files);
  if (limits.processes) add(RLIMIT_NPROC, *limits.processes, *limits.processes);
  return count;
}

RlimitSetting no_core_dump() { return bounded(RLIMIT_CORE, 1, 1); }

std::string_view limit_name(int resource) {
  switch (resource) {
    case RLIMIT_CPU:
      return "cpu_time";
    case RLIMIT_DATA:
      return "memory";
    case RLIMIT_FSIZE:
      return "file_size";
    case RLIMIT_NOFILE:
      return "open_files";
    case RLIMIT_NPROC:
      return "processes";
    case RLIMIT_CORE:
      return "core";
    default:
      return "unknown";
  }
}

}  // namespace cordon::posix
