// Outcome: the only result type. What happened to a run, decided by evidence.
//
// Plain data. The verdict says what *ended* the run: our own first action (a deadline, a limit, a
// cancellation) or else what the kernel reports. Limits that were touched without ending the run
// are in `limits_hit`. Unknown figures are empty, never zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/isolation.h"

namespace cordon {

enum class Verdict : std::uint8_t {
  exited,           // ended by itself with an exit code
  signaled,         // died of a signal that Cordon did not send
  timeout,          // wall-clock deadline
  cpu_time,         // processor-time limit
  memory,           // memory limit
  processes,        // process limit, where reaching it ends the run
  file_size,        // file-size limit
  output,           // output limit
  denied,           // refused before start, or killed for a forbidden system call
  cancelled,        // ended by the caller: terminate(), kill() or the stop token
  failed_to_start,  // never ran; see error
};
[[nodiscard]] std::string_view to_string(Verdict verdict);

// C57. `timeout` wins over how the program then died; the signal is kept.
struct Termination {
  enum class Type : std::uint8_t { exit, signal, timeout };
  Type type = Type::exit;
  int code = 0;    // exit: exit code; signal: signal number; timeout: 5
  int signal = 0;  // 0: none
  Duration duration{0};
};
[[nodiscard]] std::string_view to_string(Termination::Type type);

struct Usage {
  std::optional<Duration> cpu_user;
  std::optional<Duration> cpu_system;
  std::optional<std::uint64_t> memory_peak_bytes;
  // Apart, where the kernel tells: the most that was seen when a limit was hit, before a kill, and
  // when the program had ended. By then its own anonymous memory is given back; the cache, files of
  // a tmpfs included, is still there. No peaks.
  std::optional<std::uint64_t> memory_anonymous_bytes;
  std::optional<std::uint64_t> memory_cache_bytes;
  // Most processes and threads at once; the program alone is 1. By control groups exact from 3 on:
  // a second thread, or a second process that nobody waited for, may be missed.
  std::optional<std::uint64_t> processes_peak;
};

struct LimitHit {
  // "timeout", "cpu_time", "memory", "processes", "file_size", "open_files", "output"
  std::string name;
  std::uint64_t limit = 0;                // milliseconds, bytes or a count
  std::optional<std::uint64_t> observed;  // same unit
  std::string evidence;                   // where that is known from
};

// Something that the program was refused. Reports, never decisions: see docs/explain.md for what
// they can miss.
struct Denial {
  enum class Kind : std::uint8_t {
    path,         // a file that the host has, and the program may not use like this
    system_call,  // refused by the filter
    connect,      // an address that the program may not reach
    exec,         // a program that the host has, and that is not visible
  };
  Kind kind = Kind::path;
  std::string what{};       // a path, the name of a system call, an address; as the program gave it
  std::string access{};     // "read", "write", "execute", "connect", "send", "call"
  std::string allow{};      // the option that would allow it; empty: none does, because of `reason`
  std::string reason{};     // what is behind it, where there is something to say
  std::uint64_t count = 1;  // how often
  // What `allow` asks for, as a request would; for whoever judges that.
  std::optional<Grant> grant{};
  std::optional<Network> network{};

  friend bool operator==(const Denial&, const Denial&) = default;
};
[[nodiscard]] std::string_view to_string(Denial::Kind kind);

// How well one guarantee is kept.
struct Guarantee {
  enum class Level : std::uint8_t { enforced, partial, none };
  Level level = Level::none;
  std::string by;    // the mechanism: "RLIMIT_NOFILE", "cgroup v2 memory.max"
  std::string note;  // partial, none: what is missing and why
};
// "enforced by X" · "partly enforced by X: note" · "not enforced: note"
[[nodiscard]] std::string describe(const Guarantee& guarantee);

struct Enforcement {
  Guarantee memory;
  Guarantee cpu;
  Guarantee processes;
  Guarantee filesystem;
  Guarantee network;
  Guarantee syscalls;
  Guarantee capabilities;
  Guarantee timeout;
};

inline constexpr std::size_t kMostDenials = 100;

// When the sandbox of a run was made.
enum class Launch : std::uint8_t {
  cold,    // for this run
  warm,    // before it was asked for (pool.h)
  reused,  // … with the control groups or the network of an earlier run of its tenant (tenant.h)
};
[[nodiscard]] std::string_view to_string(Launch launch);

struct Outcome {
  std::uint64_t id = 0;
  Verdict verdict = Verdict::failed_to_start;
  Termination termination;
  std::optional<int> exit_code;  // the program's own, when it exited
  bool timed_out = false;
  bool memory_exceeded = false;
  Duration wall{0};
  Usage usage;
  std::uint64_t output_bytes = 0;  // written by the program on captured streams
  bool output_truncated = false;   // some of it was dropped
  std::optional<LimitHit> limit;   // the one that ended the run
  std::vector<LimitHit> limits_hit;
  // With Request::explain, and a system call that killed the program in any case: at most
  // kMostDenials different ones, in the order of their first time.
  std::vector<Denial> denials;
  std::uint64_t denials_omitted = 0;  // how often something else was refused
  std::string hint;                   // what to change, when a limit or refusal ended the run
  Enforcement enforcement;
  std::string backend;
  Launch launch = Launch::cold;
  // A cold run of a pool: why it was one. A run of a tenant: why nothing was reused.
  std::string launch_note;
  std::optional<Error> error;  // failed_to_start, denied

  // Filled by cordon::run() only: what the program wrote, up to the capture limit.
  std::string out;
  std::string err;
};

// The exit status of the `cordon` command for this outcome: the program's own code; 5 timed out;
// 124 ended by another limit or cancelled; 125 could not be set up; 126 not permitted or not
// executable; 127 not found; 128+n died of signal n.
[[nodiscard]] int exit_status(const Outcome& outcome);

// The documented JSON object (without `out` and `err`), on one line.
[[nodiscard]] std::string to_json(const Outcome& outcome);

}  // namespace cordon
