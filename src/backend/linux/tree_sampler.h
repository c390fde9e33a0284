// Looks at all processes of a sandbox now and then: for callers that have no control group to do
// the counting.
//
// Walks down from the sandbox's init and its program: what is orphaned inside becomes init's child,
// so nothing gets out of the walk. Processes come and go meanwhile; one that is missed is seen by
// the next look. Used by one thread at a time.
//
// Not seen: what lies in files of a tmpfs or a memfd without being mapped. The sandbox's own tmpfs
// have a size; memfds have none but RLIMIT_FSIZE.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "cordon/clock.h"

namespace cordon::linux_backend {

// Of /proc/PID/stat. Times are in clock ticks.
struct ProcessStat {
  std::uint64_t parent = 0;
  bool executed = false;              // a program, since it was made
  std::uint64_t children_faults = 0;  // of memory; some, if it has waited for any child
  std::uint64_t user = 0;
  std::uint64_t system = 0;
  std::uint64_t children_user = 0;  // those it has waited for
  std::uint64_t children_system = 0;
  std::uint64_t threads = 0;
  std::uint64_t start = 0;
};
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text);
// Resident pages, of /proc/PID/statm.
[[nodiscard]] std::optional<std::uint64_t> parse_resident_pages(std::string_view statm);
// The value of "Name:   12 kB" in bytes, of /proc/PID/smaps_rollup or status.
[[nodiscard]] std::optional<std::uint64_t> parse_kilobytes(std::string_view text,
                                                           std::string_view name);
// Of /proc/PID/task/TID/children.
[[nodiscard]] std::vector<pid_t> parse_children(std::string_view text);

struct TreeUsage {
  std::uint64_t memory_bytes = 0;  // without the sandbox's init, as the next two
  std::uint64_t processes = 0;     // and threads
  Duration cpu_user{0};            // since the start; never less than before
  Duration cpu_system{0};

  [[nodiscard]] Duration cpu() const { return cpu_user + cpu_system; }
};

class TreeSampler {
 public:
  TreeSampler() = default;
  // `memory_limit`: above it, memory is counted exactly instead of quickly; 0: never.
  // `children_files`: use those of the kernel, where it has them.
  TreeSampler(pid_t init, pid_t program, std::uint64_t memory_limit, bool children_files = true);

  // Counts again.
  const TreeUsage& look();
  [[nodiscard]] const TreeUsage& last() const { return last_; }
  [[nodiscard]] std::uint64_t memory_peak() const { return memory_peak_; }
  [[nodiscard]] std::uint64_t processes_peak() const { return processes_peak_; }

  // When the next look is due: the sooner the nearer the tree is to its memory limit, but never so
  // often that looking takes more than a few percent of a processor.
  [[nodiscard]] Duration pause(Duration longest = std::chrono::milliseconds(50)) const;

 private:
  struct Found {
    pid_t pid;
    ProcessStat stat;
  };
  [[nodiscard]] std::vector<Found> walk() const;
  [[nodiscard]] std::vector<Found> scan() const;
  [[nodiscard]] std::uint64_t resident(const std::vector<Found>& tree) const;
  [[nodiscard]] std::uint64_t exact(const std::vector<Found>& tree) const;
  void count_cpu(const std::vector<Found>& tree);

  pid_t init_ = -1;
  pid_t program_ = -1;
  std::uint64_t memory_limit_ = 0;
  base::Fd proc_;
  bool has_children_files_ = true;
  TreeUsage last_;
  std::uint64_t memory_peak_ = 0;
  std::uint64_t processes_peak_ = 0;
  Duration cost_{0};  // of the last look

  // What each process has used by itself, the ended ones too: the kernel forgets what an orphan,
  // or the child of a program that ignores SIGCHLD, has used.
  struct Own {
    std::uint64_t user = 0;
    std::uint64_t system = 0;
  };
  std::map<std::pair<pid_t, std::uint64_t>, Own> seen_;  // by pid and start time; live ones
  Own ended_;
};

}  // namespace cordon::linux_backend
