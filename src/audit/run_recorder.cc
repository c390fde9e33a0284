#include <sys/random.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "audit/call_text.h"
#include "audit/log.h"
#include "audit/reach.h"
#include "audit/request_digest.h"
#include "base/errors.h"
#include "cordon/audit.h"

namespace cordon::audit {
namespace {

Result<std::string> random_id() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return base::fail_os("audit", errno, "cannot get random bytes for the id of a run");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id;
  for (const unsigned char byte : bytes) {
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

std::string describe(const Denial& denial) {
  std::string text = denial.access + " " + denial.what;
  if (!denial.allow.empty()) text += ": allow by " + denial.allow;
  if (!denial.reason.empty()) text += "; " + denial.reason;
  return text;
}

std::string describe(const LimitHit& hit) {
  std::string text = hit.name + ": limit " + std::to_string(hit.limit);
  if (hit.observed) text += ", observed " + std::to_string(*hit.observed);
  if (!hit.evidence.empty()) text += " (" + hit.evidence + ")";
  return text;
}

const std::string& reason(const Outcome& outcome) {
  return outcome.error ? outcome.error->message : outcome.hint;
}

}  // namespace

struct RunRecorder::State {
  Result<void> record(Operation operation, const std::string& detail, std::string outcome = "") {
    const Entry one = entry(operation, detail, std::move(outcome));
    return record({&one, 1});
  }

  Result<void> record(std::span<const Entry> entries) {
    if (!log) return {};  // it could not be opened, and the run goes on without
    auto done = log->append(entries);
    if (done) return {};
    {
      const std::scoped_lock guard(mutex);
      if (!failure) failure = done.error();
    }
    if (on_failure == OnFailure::proceed) return {};
    return std::unexpected(std::move(done).error());
  }

  [[nodiscard]] Entry entry(Operation operation, std::string detail, std::string outcome) const {
    return {.operation = operation,
            .run = id,
            .policy_digest = policy_digest,
            .request_digest = digest,
            .program = program,
            .detail = std::move(detail),
            .outcome = std::move(outcome)};
  }

  std::string id;
  std::string policy_digest;
  std::string digest;
  std::string program;
  bool explained = false;
  OnFailure on_failure = OnFailure::refuse;
  std::unique_ptr<Log> log;
  mutable std::mutex mutex;
  std::optional<Error> failure;
};

RunRecorder::RunRecorder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunRecorder::RunRecorder(RunRecorder&&) noexcept = default;
RunRecorder& RunRecorder::operator=(RunRecorder&&) noexcept = default;
RunRecorder::~RunRecorder() = default;

Result<RunRecorder> RunRecorder::open(const Settings& settings, const Request& request,
                                      Clock& clock) {
  // Never ignored: going on without a record is one thing, with a forged one another.
  if (auto safe = check_out_of_reach(settings.directory, request); !safe) {
    return std::unexpected(std::move(safe).error());
  }
  auto id = random_id();
  if (!id) return std::unexpected(std::move(id).error());
  auto state = std::make_unique<State>();
  state->id = *std::move(id);
  state->policy_digest = settings.policy_digest;
  state->digest = request_digest(request);
  state->program = request.program;
  state->explained = request.explain;
  state->on_failure = settings.on_failure;
  auto log = Log::open(settings, clock);
  if (log) {
    state->log = *std::move(log);
  } else if (settings.on_failure == OnFailure::proceed) {
    state->failure = std::move(log).error();
  } else {
    return std::unexpected(std::move(log).error());
  }
  return RunRecorder(std::move(state));
}

const std::string& RunRecorder::id() const { return state_->id; }

Result<void> RunRecorder::planned(const Plan& plan) {
  return state_->record(Operation::plan, "backend " + plan.backend);
}

Result<void> RunRecorder::started() {
  return state_->record(Operation::start, state_->explained ? std::string(kExplained) : "");
}

Result<void> RunRecorder::in_sandbox(const std::string& detail) {
  return state_->record(Operation::sandbox, detail);
}

Result<void> RunRecorder::signalled(int signal) {
  return state_->record(Operation::signal, "signal " + std::to_string(signal));
}

Result<void> RunRecorder::called(std::span<const Call> calls) {
  std::vector<Entry> entries;
  entries.reserve(calls.size());
  for (const Call& call : calls) {
    entries.push_back(state_->entry(Operation::call, describe(call), json_of(call)));
  }
  return entries.empty() ? Result<void>() : state_->record(entries);
}

Result<void> RunRecorder::ended(const Outcome& outcome) {
  std::vector<Entry> entries;
  if (outcome.limit) {
    entries.push_back(state_->entry(Operation::limit, describe(*outcome.limit), ""));
  }
  for (const LimitHit& hit : outcome.limits_hit) {
    if (outcome.limit && hit.name == outcome.limit->name) continue;
    entries.push_back(state_->entry(Operation::limit, describe(hit), ""));
  }
  for (const Denial& denial : outcome.denials) {
    entries.push_back(state_->entry(Operation::denial, describe(denial), ""));
  }
  entries.push_back(state_->entry(Operation::exit, reason(outcome), to_json(outcome)));
  return state_->record(entries);
}

Result<void> RunRecorder::refused(const Outcome& outcome) {
  return state_->record(Operation::refused, reason(outcome), to_json(outcome));
}

Result<void> RunRecorder::cleaned_up(const std::string& detail) {
  return state_->record(Operation::cleanup, detail);
}

const Error* RunRecorder::failure() const {
  const std::scoped_lock guard(state_->mutex);
  return state_->failure ? &*state_->failure : nullptr;
}

}  // namespace cordon::audit
