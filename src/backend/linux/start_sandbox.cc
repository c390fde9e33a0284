#include "backend/linux/start_sandbox.h"

#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using spawner::Report;
using spawner::ReportKind;
using spawner::Role;

// Generous: a machine in trouble is slow, and the processes end by themselves on any failure.
constexpr auto kPatience = std::chrono::seconds(30);

StartFailure failed_step(const ScriptBuilder& script, const Report& report) {
  const auto& [name, argument] = script.explain(report.role, report.step);
  const std::string what = "setting up the sandbox failed at \"" + name +
                           (argument.empty() ? "" : " " + argument) +
                           "\", so the program was not run";
  Error error = base::fail_os(name, report.error, what).error();
  if (name == "clone" && report.error == EAGAIN) {
    error.message +=
        "; too many processes: raise what limits them (ulimit -u, pids.max of the control group)";
  }
  if (name.starts_with("limit:")) error.code = ErrorCode::limit_not_applied;
  return {.error = std::move(error), .argument = argument};
}

class Starting {
 public:
  Starting(ScriptBuilder& script, StatusSocket& status) : script_(script), status_(status) {}
  Starting(const Starting&) = delete;
  Starting& operator=(const Starting&) = delete;

  ~Starting() {
    if (done_) return;
    // Who is parked, or comes to it, ends; who waits for another of them is killed. Each says who
    // it is before, so all are reaped.
    status_.abandon();
    for (;;) {
      sandbox_.kill();
      const auto heard = status_.next(until_);
      if (!heard || !*heard) break;
      (void)take(**heard);
    }
  }

  std::expected<void, StartFailure> wait_until_parked() {
    while (!(init_parked_ && program_parked_ && setup_known_)) {
      // What the others say until the set-up process is done with them can be heard then: there is
      // no need to be woken for each.
      if (sandbox_.setup_fd() >= 0) status_.wait_for(sandbox_.setup_fd(), until_);
      auto heard = status_.next(until_, {sandbox_.setup_fd(), sandbox_.program_fd()});
      if (!heard) return std::unexpected(StartFailure{std::move(heard.error())});
      if (!*heard) {
        if (sandbox_.setup_fd() >= 0 && sandbox_.setup_done()) continue;
        return std::unexpected(
            StartFailure{.error = {ErrorCode::system, "set-up", 0,
                                   "the sandbox's processes were killed while they were set up"},
                         .died = true});
      }
      if (auto taken = take(**heard); !taken) return taken;
    }
    sandbox_.reap_setup();
    if (sandbox_.program_fd() < 0) {
      return std::unexpected(StartFailure{base::fail_os("pidfd_open", sandbox_.watch_error(),
                                                        "watching the program, so it was not run")
                                              .error()});
    }
    done_ = true;
    return {};
  }

  [[nodiscard]] Sandbox& sandbox() { return sandbox_; }

 private:
  std::expected<void, StartFailure> take(const StatusSocket::Heard& heard) {
    const Report& report = heard.report;
    // The set-up process says whom it has made, in case they die at once; they say so themselves,
    // in case it does.
    const pid_t pid =
        report.kind == ReportKind::cloned ? static_cast<pid_t>(report.value) : heard.sender;
    if (report.role == Role::init) sandbox_.set_init(pid);
    if (report.role == Role::program && sandbox_.program() < 0) sandbox_.set_program(pid);
    switch (report.kind) {
      case ReportKind::started:
        setup_known_ = true;
        if (report.value < 0) {
          return std::unexpected(StartFailure{
              base::fail_os("spawner", static_cast<int>(-report.value),
                            "starting a process for the sandbox failed (too many processes?)")
                  .error()});
        }
        sandbox_.set_setup(static_cast<pid_t>(report.value));
        return {};
      case ReportKind::cloned:
      case ReportKind::here:
      case ReportKind::listening:  // with what StatusSocket keeps
        return {};
      case ReportKind::parked:
        (report.role == Role::init ? init_parked_ : program_parked_) = true;
        return {};
      case ReportKind::not_executed:
      case ReportKind::failed:
        break;
    }
    return std::unexpected(failed_step(script_, report));
  }

  ScriptBuilder& script_;
  StatusSocket& status_;
  Sandbox sandbox_;
  bool setup_known_ = false;
  bool init_parked_ = false;
  bool program_parked_ = false;
  bool done_ = false;
  TimePoint until_ = std::chrono::steady_clock::now() + kPatience;
};

}  // namespace

std::expected<Sandbox, StartFailure> park_sandbox(SpawnerLink& spawner, ScriptBuilder& script,
                                                  StatusSocket& status, Letterbox& letterbox) {
  if (auto sent = spawner.send(script); !sent) {
    return std::unexpected(StartFailure{std::move(sent.error())});
  }
  status.close_theirs();
  letterbox.close_theirs();
  Starting starting(script, status);
  if (auto parked = starting.wait_until_parked(); !parked) {
    return std::unexpected(std::move(parked.error()));
  }
  return std::move(starting.sandbox());
}

namespace {

// It was started, and is the only one in the nursery's process group that was not heard of.
void reap_unknown(pid_t nursery) {
  siginfo_t info{};
  while (::waitid(P_PGID, static_cast<id_t>(nursery), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) return;
  }
  // The nursery itself, if it has died too: then the rest is reaped with the sandbox.
  if (info.si_pid != nursery) (void)::waitpid(info.si_pid, nullptr, 0);
}

}  // namespace

std::expected<Sandbox, StartFailure> park_hatched(const Sandbox& nursery, Letterbox& door,
                                                  ScriptBuilder& script, StatusSocket& status,
                                                  Letterbox& letterbox) {
  const auto died = [](std::string what) {
    return StartFailure{.error = {ErrorCode::system, "set-up", 0, std::move(what)}, .died = true};
  };
  if (auto sent = door.send(script); !sent) {
    if (sent.error().code != ErrorCode::system) return std::unexpected(StartFailure{sent.error()});
    return std::unexpected(died("the process that starts programs in this sandbox was killed"));
  }
  status.close_theirs();
  letterbox.close_theirs();
  Sandbox made;
  bool started = false;
  const TimePoint until = std::chrono::steady_clock::now() + kPatience;
  bool orphaned = false;  // the nursery has died: who it has made can only say so itself
  for (bool parked = false; !parked || !started;) {
    auto heard = status.next(until, {made.program_fd(), orphaned ? -1 : nursery.program_fd()});
    if (!heard) {
      status.abandon();
      return std::unexpected(StartFailure{std::move(heard.error())});
    }
    if (!*heard && made.program() < 0 && !orphaned && nursery.program_ended()) {
      orphaned = true;
      continue;
    }
    if (!*heard || (orphaned && made.program() > 0)) {
      if (started && !orphaned && made.program() < 0) reap_unknown(nursery.program());
      return std::unexpected(died("the program's process was killed before it could begin"));
    }
    const Report& report = (*heard)->report;
    if (report.kind == ReportKind::started) {
      started = true;
      if (report.value >= 0) continue;
      return std::unexpected(StartFailure{
          base::fail_os("clone", static_cast<int>(-report.value),
                        "starting a process in the sandbox failed (its limit of processes?)")
              .error()});
    }
    // As the kernel says; only the new process has the other end.
    if (made.program() < 0) made.set_program((*heard)->sender);
    if (report.kind == ReportKind::failed) return std::unexpected(failed_step(script, report));
    parked = parked || report.kind == ReportKind::parked;
  }
  if (made.program_fd() < 0) {
    return std::unexpected(StartFailure{
        base::fail_os("pidfd_open", made.watch_error(), "watching the program, so it was not run")
            .error()});
  }
  return made;
}

std::expected<void, StartFailure> execute_in_sandbox(ScriptBuilder& letter, StatusSocket& status,
                                                     Letterbox& letterbox) {
  if (auto sent = letterbox.send(letter); !sent) {
    const bool died = sent.error().code == ErrorCode::system;
    return std::unexpected(StartFailure{.error = std::move(sent.error()), .died = died});
  }
  const TimePoint until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    auto heard = status.next(until);
    if (!heard) return std::unexpected(StartFailure{std::move(heard.error())});
    if (!*heard) return {};  // the socket was closed by exec
    const Report& report = (*heard)->report;
    if (report.kind == ReportKind::not_executed) {
      return std::unexpected(StartFailure{
          .error = base::fail_os("exec", report.error, "executing the program").error(),
          .not_executed = true});
    }
    // The set-up process may have been late to say whom it has made.
    if (report.kind == ReportKind::failed) return std::unexpected(failed_step(letter, report));
  }
}

}  // namespace cordon::linux_backend
