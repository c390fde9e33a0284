#include <csignal>
#include <utility>

#include "base/errors.h"
#include "sandbox_remote.h"
#include "service_carry.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";

std::unexpected<Error> not_started_yet() {
  return base::fail(ErrorCode::wrong_state, kStage, "the program has not been started");
}
std::unexpected<Error> unsupported(const char* what) {
  return base::fail(ErrorCode::unsupported, kStage, what);
}

class Events final : public EventSource {
 public:
  explicit Events(const std::shared_ptr<Remote>* remote) : remote_(remote) {}
  void attach() override {}
  void detach(std::vector<Event> /*unread*/) override {}
  [[nodiscard]] Result<void> take(std::vector<Event>& batch, Duration patience) override {
    if (!*remote_) return not_started_yet();
    return (*remote_)->take(batch, patience);
  }
  void notify(std::function<void()> /*ready*/) override {}

 private:
  const std::shared_ptr<Remote>* remote_;
};

}  // namespace

// For as long as its manager.
class RemoteProcess final : public Process {
 public:
  RemoteProcess(RemoteManager& manager, Request request)
      : manager_(manager), request_(std::move(request)) {}

  [[nodiscard]] Result<void> start() override {
    if (remote()) return {};  // visited
    return manager_.start(request_);
  }
  [[nodiscard]] Result<Outcome> wait() override { return wait_for(kNoTimeout); }
  [[nodiscard]] Result<Outcome> wait_for(Duration patience) override {
    if (!remote()) return not_started_yet();
    return remote()->wait(patience);
  }
  using Process::signal;
  [[nodiscard]] Result<void> signal(int number, Reach reach) override {
    if (!remote()) return not_started_yet();
    return remote()->signal(number, reach);
  }
  [[nodiscard]] Result<void> terminate(Duration grace) override {
    if (!remote()) return not_started_yet();
    return remote()->end(grace);
  }
  [[nodiscard]] Result<void> kill() override {
    if (!remote()) return not_started_yet();
    return remote()->end(std::nullopt);
  }
  [[nodiscard]] Result<void> set_stdin(Input input) override {
    request_.in = std::move(input);
    return {};
  }
  [[nodiscard]] Result<void> set_stdout(cordon::Output output) override {
    request_.out = output;
    return {};
  }
  [[nodiscard]] Result<void> set_stderr(cordon::Output output) override {
    request_.err = output;
    return {};
  }
  [[nodiscard]] Result<void> set_limits(const Limits& limits) override {
    request_.limits = limits;
    return {};
  }
  [[nodiscard]] Limits limits() const override { return request_.limits; }
  using Process::write_stdin;
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data, Duration patience) override {
    if (!remote()) return not_started_yet();
    return remote()->write(data, patience);
  }
  [[nodiscard]] Result<void> close_stdin() override {
    if (!remote()) return not_started_yet();
    return remote()->end_input();
  }
  [[nodiscard]] Result<void> resize_terminal(TerminalSize size) override {
    if (!remote()) return not_started_yet();
    return remote()->say(Kind::resize, Size{.rows = size.rows, .columns = size.columns});
  }
  [[nodiscard]] ProcessId id() const override { return remote() ? remote()->started().process : 0; }
  [[nodiscard]] std::optional<std::int64_t> os_pid() const override { return std::nullopt; }
  [[nodiscard]] bool running() const override { return remote() && !outcome(); }
  [[nodiscard]] std::optional<int> exit_code() const override {
    const auto ended = outcome();
    return ended ? ended->exit_code : std::nullopt;
  }
  [[nodiscard]] Status status() override {
    Status status;
    status.id = id();
    status.running = running();
    status.exit_code = exit_code();
    return status;
  }
  [[nodiscard]] EventStream events() override {
    return EventStream(std::make_shared<Events>(&manager_.remote()));
  }
  [[nodiscard]] std::optional<Outcome> outcome() const override {
    return remote() ? remote()->outcome() : std::nullopt;
  }

 private:
  [[nodiscard]] const std::shared_ptr<Remote>& remote() const { return manager_.remote(); }

  RemoteManager& manager_;
  Request request_;
};

Result<void> RemoteManager::start(const Request& request) {
  if (!channel_) return base::fail(ErrorCode::wrong_state, kStage, "it was started already");
  Channel channel = *std::exchange(channel_, std::nullopt);
  Exec ask{.request = request,
           .timeout = request.timeout,
           .grace = request.grace,
           .relayed = request.in.kind == Input::Kind::pipe,
           .given = given_,
           .waits = waits_,
           .record = record_};
  if (request.terminal) {
    ask.terminal = Size{.rows = request.terminal->rows, .columns = request.terminal->columns};
  }
  std::vector<int> descriptors;
  if (request.in.kind == Input::Kind::inherit) descriptors.push_back(0);
  if (request.in.kind == Input::Kind::descriptor) descriptors.push_back(request.in.fd);
  auto sent = channel.send(Kind::exec, to_bytes(std::move(ask)), descriptors, kAnswer);
  if (!sent && sent.error().code != ErrorCode::closed) return sent;
  auto answer = expect(channel, Kind::started, kStart);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto started = from_bytes<Started>(answer->bytes);
  if (!started) return base::fail(ErrorCode::system, kStage, "an answer of no meaning");
  remote_ = std::make_shared<Remote>(std::move(channel), *started, Bond::owner, started->terminal);
  return {};
}

Result<std::shared_ptr<Process>> RemoteManager::create(Request request) {
  return std::make_shared<RemoteProcess>(*this, std::move(request));
}

Result<Plan> RemoteManager::plan(const Request& /*request*/) const {
  return unsupported("what is executed in a sandbox is as isolated as the sandbox");
}

Result<std::shared_ptr<Process>> RemoteManager::get(ProcessId /*id*/) const {
  return base::fail(ErrorCode::not_found, kStage, "no process is known by its number here");
}

std::vector<std::shared_ptr<Process>> RemoteManager::list() const { return {}; }

Result<void> RemoteManager::set_default_limits(const Limits& /*limits*/) {
  return unsupported("the limits of a sandbox are set when it is created");
}

Capabilities RemoteManager::capabilities() const {
  return {.backend = backend_, .enforcement = {}, .gaps = {}};
}

}  // namespace cordon::app::sandbox
