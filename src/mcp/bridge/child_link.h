// One server's process as a place that takes and gives messages, a line each. Ends it in an orderly
// way, and tells when it is no more.
//
// In the event loop's thread, except for what the starter does. Calls of its owner come from the
// loop, never from inside a call of the owner's.
//
// Writing never waits: Process has no way to say that a program's stdin has room again, so what
// does not fit is tried again after a millisecond, then less and less often (up to 20 ms). A pipe
// of our own would tell, but not on every backend, and the kernel's pipe takes 64 KiB at once
// anyway.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/events.h"
#include "cordon/process.h"
#include "mcp/bridge/event_loop.h"
#include "mcp/bridge/starter.h"
#include "mcp/message.h"

namespace cordon::mcp {

struct ChildSettings {
  std::string name{};  // for the log
  std::function<Result<std::shared_ptr<Process>>()> make{};
  std::function<void(const std::shared_ptr<Process>&)> ended{};
  std::function<void(std::string_view line)> log{};
  std::function<void(class ChildLink&)> over{};  // the last that it does, after its owner knows
  MessageLimits limits{};
  Duration grace{};
};

class ChildLink : public Lookout, public std::enable_shared_from_this<ChildLink> {
 public:
  struct Owner {
    std::function<void(Message message)> message{};
    std::function<void()> ended{};  // once; also when it could not be started
  };

  ChildLink(std::shared_ptr<EventLoop> loop, ChildSettings settings);
  ~ChildLink() override;

  void set_owner(Owner owner) { owner_ = std::move(owner); }
  // Begins. What is sent before the process is there waits for it.
  void start(Starter& starter);
  void send(std::string_view text);
  // Bytes that were sent and not yet taken by the program.
  [[nodiscard]] std::size_t queued() const { return queue_.size() - written_; }
  // While it is held nothing is read from the program, which then waits.
  void hold(bool held);

  // Closes stdin once everything sent is written; after the grace SIGTERM, after another SIGKILL.
  void end();
  void kill();

  bool look() override;
  void rest() override;

  [[nodiscard]] bool running() const { return state_ == State::running; }
  [[nodiscard]] bool usable() const {
    return (state_ == State::starting || state_ == State::running) && !ending_;
  }
  [[nodiscard]] bool starting() const { return state_ == State::starting; }
  [[nodiscard]] bool over() const { return state_ == State::over; }
  [[nodiscard]] bool was_started() const { return was_started_; }
  [[nodiscard]] bool ending() const { return ending_; }
  // Why it could not be started, or how it ended; for a person.
  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  enum class State : std::uint8_t { idle, starting, running, over };

  struct Launch {
    std::shared_ptr<Process> process;  // none: not even made
    Result<void> started;
  };
  static Launch launch(const ChildSettings& settings);
  void launched(Launch launch);
  void flush();
  void await_events();
  void look_or_await_events();
  void drain();
  void take_or_finish(std::optional<Event> event);  // none: it was the last
  void take(const Event& event);
  void take_line(std::string_view line);
  void refuse(std::string_view line, std::string_view why);
  void close_input();
  void finish(std::string reason);

  std::shared_ptr<EventLoop> loop_;
  ChildSettings settings_;
  Owner owner_;
  std::shared_ptr<Process> process_;
  std::optional<EventStream> events_;
  std::unique_ptr<Timer> retry_;
  std::unique_ptr<Timer> ladder_;
  std::string queue_;
  std::size_t written_ = 0;
  Duration pause_{};
  std::string reason_;
  int refused_ = 0;
  State state_ = State::idle;
  bool was_started_ = false;
  bool waiting_to_write_ = false;
  bool held_ = false;
  bool reading_ = false;
  bool in_long_line_ = false;
  bool ending_ = false;
  bool input_closed_ = false;
};

}  // namespace cordon::mcp
