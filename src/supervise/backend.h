// What a real backend provides: how to launch, signal and reap one program, and what holds for it.
// Everything else (deadlines, output, stdin, verdicts) is done once, by SupervisedProcess.
//
// A Child is prepared when its process is created, and launched at most once. It is called under
// the process's lock, except exit_fd(). Never called again once reap() has returned an Ended, so no
// signal can reach a reused pid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/limits.h"
#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/process.h"

namespace cordon::supervise {

struct LaunchSpec {
  const Request& request;
  const Limits& limits;  // the request's with the manager's defaults
  int stdio[3];          // the child's ends; owned by the caller, closed there after launch()
};

struct Ended {
  int exit_code = 0;
  int signal = 0;            // 0: exited
  bool status_lost = false;  // somebody else reaped it; how it ended is unknown
  Usage usage;
  // What the kernel's counters say, where a backend has any.
  std::optional<Verdict> ended_by;  // a limit that the kernel itself enforced by killing
  std::string evidence;
  std::vector<LimitHit> limits_hit;
  std::vector<Denial> denials;  // of a run that is to be explained
  std::uint64_t denials_omitted = 0;
  Launch launch = Launch::cold;
  std::string launch_note;
};

// What a backend has noticed about a running program.
struct Alarm {
  std::optional<Verdict> verdict;  // the run must end for this
  std::string evidence;
  bool look_again = false;  // soon: the kernel may not have counted yet
};

struct Sample {
  Duration cpu{0};  // used so far
  std::uint64_t memory_bytes = 0;
  std::optional<std::uint64_t> memory_anonymous_bytes{};  // of those, where the kernel tells
  std::string evidence{};  // whose clock `cpu` is of, unless it is the program's
};

class Child {
 public:
  virtual ~Child() = default;

  // Success: the program runs with every limit in place. Failure: nothing is left of it.
  [[nodiscard]] virtual Result<void> launch(const LaunchSpec& spec) = 0;
  // Readable once the program has ended; valid until the Child is destroyed.
  [[nodiscard]] virtual int exit_fd() const = 0;
  [[nodiscard]] virtual std::int64_t os_pid() const = 0;
  // Returns 0 or an errno.
  [[nodiscard]] virtual int send(int signal, Reach reach) = 0;
  // Nothing while the program runs. Else ends what it left running, then reaps it.
  [[nodiscard]] virtual std::optional<Ended> reap() = 0;
  [[nodiscard]] virtual std::optional<Sample> sample() const = 0;

  // What holds for this run.
  [[nodiscard]] virtual Enforcement enforcement() const = 0;

  // Readable when alarm() has something to look at; -1: never. Valid until the Child is destroyed.
  [[nodiscard]] virtual int alarm_fd() const { return -1; }
  [[nodiscard]] virtual Alarm alarm() { return {}; }
  // For what no descriptor tells: how long until alarm() must be asked again. Nothing: not at all.
  [[nodiscard]] virtual std::optional<Duration> look_every() const { return std::nullopt; }
};

// A kind of real processes. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  // As in Capabilities::backend; lives as long as the program.
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  // What launching this request would do. Errors: those of prepare(), and what launching it would
  // fail with.
  [[nodiscard]] virtual Result<Plan> plan(const Request& request, const Limits& limits) const = 0;
  // A child that is going to be launched with this request and these limits. Refuses what this
  // backend cannot do at all. Error: unsupported.
  [[nodiscard]] virtual Result<std::unique_ptr<Child>> prepare(const Request& request,
                                                               const Limits& limits) = 0;
  // Nothing is launched any more: what has to end can begin to, while others are waited for.
  virtual void retire() {}
};

}  // namespace cordon::supervise
