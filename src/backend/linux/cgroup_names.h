// Names of the runs' groups: unique, and such that another supervisor can tell whether the one that
// made a group is dead.
//
// A name is "run-<pid namespace>-<time namespace>-<pid>-<start time>-<number>". A pid means
// something only in its own pid namespace, and a start time only in its own time namespace: names
// of other namespaces are left alone.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cordon::linux_backend {

struct CgroupOwner {
  std::uint64_t pid_namespace = 0;
  std::uint64_t time_namespace = 0;
  std::uint64_t pid = 0;
  std::uint64_t start = 0;  // clock ticks after boot

  friend bool operator==(const CgroupOwner&, const CgroupOwner&) = default;
};

[[nodiscard]] std::string cgroup_name(const CgroupOwner& owner, std::uint64_t number);
// Empty: not a name of ours.
[[nodiscard]] std::optional<CgroupOwner> owner_of(std::string_view name);

// What a /proc/PID/stat says. Empty: it cannot be read as one.
struct ProcStat {
  char state = '?';
  std::uint64_t threads = 0;
  std::uint64_t start = 0;
};
[[nodiscard]] std::optional<ProcStat> parse_proc_stat(std::string_view text);

// This process. Empty: /proc does not tell, or shows another pid namespace than ours.
[[nodiscard]] std::optional<CgroupOwner> this_owner();
// Whether the supervisor is certainly gone. `self` is the caller: only owners of its namespaces can
// be judged. False in doubt.
[[nodiscard]] bool is_dead(const CgroupOwner& owner, const CgroupOwner& self);

// Used by one thread at a time.
class CgroupNames {
 public:
  [[nodiscard]] std::string next();
  // As this_owner(), remembered; asked for again in a forked copy of the process.
  [[nodiscard]] const std::optional<CgroupOwner>& self();

 private:
  std::optional<CgroupOwner> self_;
  pid_t asked_by_ = -1;
  std::uint64_t number_ = 0;
};

}  // namespace cordon::linux_backend
