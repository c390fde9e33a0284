#include "sandbox_start.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "admission.h"
#include "backend/posix/background.h"
#include "concat.h"
#include "image_rootfs.h"
#include "make_manager.h"
#include "message.h"
#include "outcome/decide.h"
#include "policy_options.h"
#include "recorded_run.h"
#include "requirements.h"
#include "sandbox_messages.h"
#include "sandbox_shim.h"
#include "sandbox_store.h"
#include "verdict_line.h"
#include "write_all.h"

namespace cordon::app::sandbox {
namespace {

// The first byte of what the supervisor says.
constexpr char kReady = '+';
constexpr char kFailed = '-';
// Room for what the main program writes before anybody reads.
constexpr std::uint32_t kEventBuffer = 4 * 1024 * 1024;

// What the caller had open is no affair of a process that outlives it.
void close_inherited() { (void)::syscall(SYS_close_range, STDERR_FILENO + 1, UINT_MAX, 0); }

int failed(const std::string& backend, const Error& error) {
  const Outcome outcome = outcome::failed_to_start(0, backend, {}, error);
  complain(verdict_line(outcome));
  return exit_status(outcome);
}

// In front: passes on what the supervisor says.
int report(const base::Fd& pipe, const Line& line) {
  std::string said;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = ::read(pipe.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    said.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (said.starts_with(kReady)) {
    return print(line.json ? said.substr(1) + '\n' : concat(line.name, "\n"));
  }
  const auto error =
      said.starts_with(kFailed) ? from_bytes<Error>(said.substr(1)) : std::optional<Error>();
  if (error) return failed(line.backend, *error);
  complain("the supervisor of the sandbox ended before it was ready");
  return kOwnFailure;
}

Result<void> complete_cwd(Request& request) {
  if (!request.root.empty()) return {};  // a place in that
  std::error_code error;
  const auto absolute = std::filesystem::absolute(request.cwd.empty() ? "." : request.cwd, error);
  if (error) {
    return std::unexpected(Error{ErrorCode::not_found, "chdir", error.value(),
                                 "the current directory is gone: use --cwd"});
  }
  request.cwd = absolute.lexically_normal().string();
  if (request.cwd.size() > 1 && request.cwd.ends_with('/')) request.cwd.pop_back();
  return {};
}

// The main program's request, wherever the supervisor reads it.
Result<void> complete(Request& request, bool tty) {
  if (auto completed = complete_cwd(request); !completed) return completed;
  request.limits = with_defaults(request.limits, usual_limits(Backend::linux_sandbox));
  if (request.timeout == Duration{0}) request.timeout = kNoTimeout;
  request.in = Input::pipe();
  request.out = cordon::Output::events();
  request.err = cordon::Output::events();
  if (tty) request.terminal = TerminalSize{};
  request.event_buffer = kEventBuffer;
  return {};
}

Result<void> make_absolute(std::vector<std::string>& paths) {
  for (std::string& path : paths) {
    std::error_code error;
    auto absolute = std::filesystem::absolute(path, error);
    if (error) {
      return std::unexpected(
          Error{ErrorCode::not_found, "policy", error.value(), concat("cannot find ", path)});
    }
    path = absolute.lexically_normal().string();
  }
  return {};
}

// Before anything is made; what is asked here has let go of everything when it returns.
Result<void> check_requirements(const RunOptions& options) {
  if (options.require.empty()) return {};
  const auto manager = make_manager(options.backend);
  if (!manager) return std::unexpected(manager.error());
  const auto plan = (*manager)->plan(options.request);
  if (!plan) return std::unexpected(plan.error());
  return check_required(options.require, *plan);
}

int supervise_in_background(ShimAsk ask, std::optional<RecordedRun>& run, const Line& line) {
  auto forked = posix::fork_to_background();
  if (!forked) return failed(line.backend, forked.error());
  // Nothing of what is shared with the supervisor by now is to be given back here.
  if (!forked->background) ::_exit(report(forked->pipe, line));
  base::Fd tell = std::move(forked->pipe);
  const auto lived = supervise(std::move(ask), run, [&](const Record& record) {
    (void)posix::release_streams();
    (void)write_all(tell.get(), concat(std::string(1, kReady), to_json(record)));
    tell.reset();
  });
  if (lived) return 0;
  if (tell) {
    (void)write_all(tell.get(), concat(std::string(1, kFailed), to_bytes(lived.error())));
  }
  return kOwnFailure;
}

}  // namespace

int start(StartAsk ask) {
  close_inherited();
  Line& line = ask.line;
  RunOptions& options = line.run;
  options.backend = backend_named(line.backend);  // the policy has a say about it
  if (auto named = make_absolute(options.policies); !named) {
    return failed(line.backend, named.error());
  }
  auto rootfs = open_rootfs(options);
  if (!rootfs) return failed(line.backend, rootfs.error());
  if (ask.image.empty()) {
    if (auto completed = complete(options.request, line.tty); !completed) {
      return failed(line.backend, completed.error());
    }
  }
  auto policy = load_policy(options);
  if (!policy) return failed(line.backend, policy.error());
  auto settings = audit_settings(*policy, options);
  if (!settings) return failed(line.backend, settings.error());
  std::optional<JudgedRun> judged;
  std::optional<RecordedRun> run;
  auto admitted = admit(options, *std::move(policy), *settings, Purpose::run,
                        {.judged = judged, .record = run});
  if (!admitted) {
    if (run) (void)run->refused(outcome::failed_to_start(0, line.backend, {}, admitted.error()));
    return failed(line.backend, admitted.error());
  }
  auto ready = unpack_rootfs(*rootfs, options);
  if (ready) ready = check_requirements(options);
  if (!ready) {
    if (run) (void)run->refused(outcome::failed_to_start(0, line.backend, {}, ready.error()));
    return failed(line.backend, ready.error());
  }
  auto claimed = claim(line.name, ask.replaces);
  if (!claimed) return failed(line.backend, claimed.error());
  Record record{.name = line.name, .backend = line.backend, .image = ask.image};
  record.command = {options.request.program};
  record.command.insert(record.command.end(), options.request.args.begin(),
                        options.request.args.end());
  record.policies = options.policies;
  record.profile = options.profile;
  if (claimed->before) record.checkpoint = claimed->before->checkpoint;
  return supervise_in_background({.claim = *std::move(claimed),
                                  .record = std::move(record),
                                  .request = std::move(options.request),
                                  .image = ask.image},
                                 run, line);
}

}  // namespace cordon::app::sandbox
