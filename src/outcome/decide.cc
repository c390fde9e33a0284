#include "outcome/decide.h"

#include <fmt/format.h>

#include <csignal>
#include <utility>

namespace cordon::outcome {
namespace {

constexpr int kTimeoutCode = 5;  // C53

std::uint64_t milliseconds(Duration d) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(d).count());
}

std::optional<Duration> cpu_used(const Usage& usage) {
  if (!usage.cpu_user || !usage.cpu_system) return std::nullopt;
  return *usage.cpu_user + *usage.cpu_system;
}

// The kernel ends a program at a limit with a signal of its own. SIGXCPU counts only when the
// processor time was really used: a program can send itself any signal.
std::optional<Verdict> verdict_of_kernel(const Ending& e) {
  if (e.ended_by) return e.ended_by;
  // Only where a filter is in place: elsewhere the signal means nothing to us.
  if (e.signal == SIGSYS && e.enforcement.syscalls.level == Guarantee::Level::enforced) {
    return Verdict::denied;
  }
  if (e.signal == SIGXFSZ && e.limits.file_size_bytes) return Verdict::file_size;
  const auto used = cpu_used(e.usage);
  if (e.limits.cpu_time && used && *used >= *e.limits.cpu_time &&
      (e.signal == SIGXCPU || e.signal == SIGKILL)) {
    return Verdict::cpu_time;
  }
  return std::nullopt;
}

LimitHit limit_of(Verdict verdict, const Ending& e) {
  switch (verdict) {
    case Verdict::timeout:
      return {"timeout", milliseconds(e.timeout), milliseconds(e.wall), "supervisor's deadline"};
    case Verdict::cpu_time: {
      const auto used = cpu_used(e.usage);
      std::string evidence = "processor time of the program";
      if (!e.first_action) {
        evidence = e.signal == SIGXCPU ? "SIGXCPU from RLIMIT_CPU"
                                       : "killed with more processor time used than allowed";
      }
      return {"cpu_time", milliseconds(e.limits.cpu_time.value_or(Duration{0})),
              used ? std::optional(milliseconds(*used)) : std::nullopt, std::move(evidence)};
    }
    case Verdict::memory:
      return {"memory", e.limits.memory_bytes.value_or(0), e.usage.memory_peak_bytes, ""};
    case Verdict::processes:
      return {"processes", e.limits.processes.value_or(0), e.usage.processes_peak, ""};
    case Verdict::file_size:
      return {"file_size", e.limits.file_size_bytes.value_or(0), std::nullopt,
              "SIGXFSZ from RLIMIT_FSIZE"};
    default:
      return {"output", e.limits.output_bytes.value_or(0), e.output_bytes,
              "bytes read from stdout and stderr"};
  }
}

std::string hint_for(const LimitHit& hit) {
  if (hit.name == "timeout") return "raise --timeout if the program needs more time";
  if (hit.name == "cpu_time") return "raise --cpu-time if the program needs more processor time";
  if (hit.name == "memory") return "raise --memory if the program needs more memory";
  if (hit.name == "processes") return "raise --pids if the program needs more processes";
  if (hit.name == "file_size") return "raise --file-size if the program needs larger files";
  if (hit.name == "output") return "raise --output if the program may write more";
  return {};
}

bool is_limit(Verdict v) {
  switch (v) {
    case Verdict::timeout:
    case Verdict::cpu_time:
    case Verdict::memory:
    case Verdict::processes:
    case Verdict::file_size:
    case Verdict::output:
      return true;
    default:
      return false;
  }
}

Termination termination_of(Verdict verdict, const Ending& e) {
  using Type = Termination::Type;
  if (verdict == Verdict::timeout) return {Type::timeout, kTimeoutCode, e.signal, e.wall};
  if (e.signal != 0) return {Type::signal, e.signal, e.signal, e.wall};
  return {Type::exit, e.exit_code, 0, e.wall};
}

}  // namespace

Outcome decide(const Ending& e) {
  Outcome o;
  o.id = e.id;
  o.backend = e.backend;
  o.enforcement = e.enforcement;

  if (e.first_action) {
    o.verdict = *e.first_action;
  } else if (const auto by_kernel = verdict_of_kernel(e)) {
    o.verdict = *by_kernel;
  } else {
    o.verdict = e.signal != 0 ? Verdict::signaled : Verdict::exited;
  }

  o.termination = termination_of(o.verdict, e);
  if (e.status_lost) {
    o.error =
        Error{ErrorCode::system, "reap", 0,
              "the exit status was lost: this process ignores SIGCHLD or waits for any child; "
              "let SIGCHLD have its default action and wait for your own children by pid"};
  } else if (e.signal == 0) {
    o.exit_code = e.exit_code;
  }
  o.timed_out = o.verdict == Verdict::timeout;
  o.memory_exceeded = o.verdict == Verdict::memory;
  o.wall = e.wall;
  o.usage = e.usage;
  o.output_bytes = e.output_bytes;
  o.output_truncated = e.output_truncated;
  o.limits_hit = e.limits_hit;
  o.denials = e.denials;
  o.denials_omitted = e.denials_omitted;
  o.launch = e.launch;
  o.launch_note = e.launch_note;

  if (is_limit(o.verdict)) {
    LimitHit hit = limit_of(o.verdict, e);
    if (!e.evidence.empty()) {
      hit.evidence = e.evidence;
    } else if (!e.kernel_evidence.empty() && o.verdict == e.ended_by) {
      hit.evidence = e.kernel_evidence;
    }
    o.hint = hint_for(hit);
    o.limit = std::move(hit);
  } else if (o.verdict == Verdict::denied && !e.first_action) {
    o.denials.push_back({.kind = Denial::Kind::system_call,
                         .what = "a system call of a foreign architecture",
                         .access = "call",
                         .reason = "i386 and x32 calls end the program"});
    o.hint = "the program made a system call that is never allowed; run it by its own architecture";
  }
  return o;
}

Outcome failed_to_start(std::uint64_t id, std::string backend, Enforcement enforcement,
                        Error error) {
  Outcome o;
  o.id = id;
  // Without an errno it was Cordon that refused; what the OS refuses is a failed set-up.
  const bool refused = error.code == ErrorCode::not_permitted && error.os_error == 0;
  o.verdict = refused ? Verdict::denied : Verdict::failed_to_start;
  o.termination.code = exit_status([&] {
    Outcome probe;
    probe.verdict = o.verdict;
    probe.error = error;
    return probe;
  }());
  o.backend = std::move(backend);
  o.enforcement = std::move(enforcement);
  o.error = std::move(error);
  return o;
}

}  // namespace cordon::outcome
