#include "pool_backend.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "pool_client.h"
#include "pool_request.h"
#include "wake.h"

namespace cordon::app::pool {
namespace {

constexpr const char* kStage = "pool";
// For the set-up of a sandbox on a machine that is busy with others.
constexpr Duration kStart = std::chrono::minutes(1);
constexpr Duration kSignal = std::chrono::seconds(1);

std::vector<std::string_view> environment() {
  std::vector<std::string_view> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

Error lost_before_start(const Error& why) {
  return {ErrorCode::system, kStage, why.os_error,
          "the pool went away before it was known whether the program was started (" + why.message +
              "); it is not run again: look after it, or use --pool off"};
}

Error lost_while_running(const Error& why) {
  return {ErrorCode::system, kStage, why.os_error,
          "the pool went away while the program ran, and the program was ended with it (" +
              why.message + "): see 'cordon pool status', or use --pool off"};
}

class PoolChild final : public supervise::Child {
 public:
  PoolChild(std::shared_ptr<Channel> channel, std::shared_ptr<Fate> fate)
      : channel_(std::move(channel)), fate_(std::move(fate)) {}

  [[nodiscard]] Result<void> launch(const supervise::LaunchSpec& spec) override {
    std::error_code ignored;
    const Request request = for_pool(
        spec.request, spec.limits, std::filesystem::current_path(ignored).string(), environment());
    std::vector<int> descriptors(std::begin(spec.stdio), std::end(spec.stdio));
    for (const Pin& pin : request.pins) descriptors.push_back(pin.fd);
    auto sent = channel_->send(Kind::run, to_bytes(request), descriptors, kAnswer);
    if (!sent) return std::unexpected(lost_before_start(sent.error()));
    return await_start();
  }

  [[nodiscard]] int exit_fd() const override { return early_ ? early_->fd() : channel_->fd(); }
  [[nodiscard]] std::int64_t os_pid() const override { return pid_; }

  [[nodiscard]] int send(int signal, Reach reach) override {
    const auto sent = channel_->send(
        Kind::signal, Signal{.number = signal, .tree = reach == Reach::tree}, kSignal);
    return sent ? 0 : ESRCH;
  }

  [[nodiscard]] std::optional<supervise::Ended> reap() override {
    if (!ended_) {
      auto message = channel_->receive(Duration{0});
      if (!message && message.error().code == ErrorCode::timed_out) return std::nullopt;
      take_end(std::move(message));
    }
    if (!ended_) return supervise::Ended{.signal = SIGKILL};  // see Fate::lost
    enforcement_ = ended_->enforcement;
    return ended_of(*ended_);
  }

  // The service looks after what has to be looked at.
  [[nodiscard]] std::optional<supervise::Sample> sample() const override { return std::nullopt; }
  [[nodiscard]] Enforcement enforcement() const override { return enforcement_; }

 private:
  [[nodiscard]] Result<void> await_start() {
    auto message = channel_->receive(kStart);
    if (!message) return std::unexpected(lost_before_start(message.error()));
    if (message->kind == Kind::started) {
      if (const auto started = from_bytes<Started>(message->bytes)) pid_ = started->pid;
      return look_for_early_end();
    }
    if (message->kind == Kind::ended) {
      auto outcome = from_bytes<Outcome>(message->bytes);
      if (outcome && outcome->error) {
        enforcement_ = std::move(outcome->enforcement);
        return std::unexpected(*std::move(outcome->error));
      }
    }
    if (message->kind == Kind::refused) {
      if (auto refused = from_bytes<Refused>(message->bytes)) {
        return base::fail(ErrorCode::system, kStage,
                          "the pool has not run the program: " + refused->message);
      }
    }
    return base::fail(ErrorCode::system, kStage, "the pool has given an answer of no meaning");
  }

  // The end may have come with the start, in one read: then nothing more will.
  [[nodiscard]] Result<void> look_for_early_end() {
    auto message = channel_->receive(Duration{0});
    if (!message && message.error().code == ErrorCode::timed_out) return {};
    auto wake = Wake::create();
    if (!wake) return std::unexpected(std::move(wake.error()));
    wake->set();
    early_.emplace(*std::move(wake));
    take_end(std::move(message));
    return {};
  }

  void take_end(Result<Message> message) {
    if (message && message->kind == Kind::ended) ended_ = from_bytes<Outcome>(message->bytes);
    if (ended_) return;
    const Error why = message ? Error{ErrorCode::system, kStage, 0, "an answer of no meaning"}
                              : std::move(message.error());
    fate_->lost = lost_while_running(why);
  }

  const std::shared_ptr<Channel> channel_;
  const std::shared_ptr<Fate> fate_;
  std::int64_t pid_ = 0;
  std::optional<Wake> early_;  // set: the end is at hand
  std::optional<Outcome> ended_;
  Enforcement enforcement_;
};

}  // namespace

PoolBackend::PoolBackend(std::shared_ptr<Channel> channel, std::shared_ptr<Fate> fate)
    : channel_(std::move(channel)), fate_(std::move(fate)) {}

PoolBackend::~PoolBackend() = default;

Capabilities PoolBackend::capabilities() const {
  return {.backend = std::string(name()), .enforcement = {}, .gaps = {}};
}

Result<Plan> PoolBackend::plan(const Request& /*request*/, const Limits& /*limits*/) const {
  return base::fail(ErrorCode::unsupported, kStage,
                    "a pool makes no plans: ask the linux backend for one");
}

Result<std::unique_ptr<supervise::Child>> PoolBackend::prepare(const Request& /*request*/,
                                                               const Limits& /*limits*/) {
  return std::make_unique<PoolChild>(channel_, fate_);
}

supervise::Ended ended_of(const Outcome& outcome) {
  supervise::Ended ended;
  ended.exit_code = outcome.exit_code.value_or(0);
  ended.signal = outcome.termination.signal;
  ended.status_lost = outcome.error.has_value();
  ended.usage = outcome.usage;
  ended.limits_hit = outcome.limits_hit;
  ended.denials = outcome.denials;
  ended.denials_omitted = outcome.denials_omitted;
  ended.launch = outcome.launch;
  ended.launch_note = outcome.launch_note;
  if (outcome.verdict == Verdict::exited || outcome.verdict == Verdict::signaled) return ended;
  ended.ended_by = outcome.verdict;
  if (outcome.limit) ended.evidence = outcome.limit->evidence;
  // The one for the system call that ended it is added again with the verdict.
  if (outcome.verdict == Verdict::denied && !ended.denials.empty()) ended.denials.pop_back();
  return ended;
}

}  // namespace cordon::app::pool
