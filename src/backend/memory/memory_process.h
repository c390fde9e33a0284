// The Process interface over a simulated tree: supervises it as the real backends do, in virtual
// time. Everything is guarded by the simulation's lock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "backend/memory/schedule.h"
#include "backend/memory/tree.h"
#include "backend/memory/universe.h"
#include "cordon/process.h"
#include "supervise/stop_ladder.h"

namespace cordon::memory {

class MemoryProcess final : public Process,
                            public EventSource,
                            private TreeOwner,
                            public std::enable_shared_from_this<MemoryProcess> {
 public:
  MemoryProcess(std::shared_ptr<Universe> universe, ProcessId id, Request request, Limits limits);
  ~MemoryProcess() override;

  // Process
  [[nodiscard]] Result<void> start() override { return start_as({}); }
  [[nodiscard]] Result<Outcome> wait() override { return wait_for(kNoTimeout); }
  [[nodiscard]] Result<Outcome> wait_for(Duration patience) override;
  using Process::signal;
  [[nodiscard]] Result<void> signal(int signal, Reach reach) override;
  [[nodiscard]] Result<void> terminate(Duration grace) override;
  [[nodiscard]] Result<void> kill() override { return terminate(Duration{0}); }
  [[nodiscard]] Result<void> set_stdin(Input input) override;
  [[nodiscard]] Result<void> set_stdout(Output output) override;
  [[nodiscard]] Result<void> set_stderr(Output output) override;
  [[nodiscard]] Result<void> set_limits(const Limits& limits) override;
  [[nodiscard]] Limits limits() const override;
  using Process::write_stdin;
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data, Duration patience) override;
  [[nodiscard]] Result<void> close_stdin() override;
  [[nodiscard]] Result<void> resize_terminal(TerminalSize size) override;
  [[nodiscard]] ProcessId id() const override { return id_; }
  [[nodiscard]] std::optional<std::int64_t> os_pid() const override;
  [[nodiscard]] bool running() const override;
  [[nodiscard]] std::optional<int> exit_code() const override;
  [[nodiscard]] Status status() override;
  [[nodiscard]] EventStream events() override { return EventStream(shared_from_this()); }
  [[nodiscard]] std::optional<Outcome> outcome() const override;

  // EventSource
  void attach() override;
  void detach(std::vector<Event> unread) override;
  [[nodiscard]] Result<void> take(std::vector<Event>& batch, Duration patience) override;
  void notify(std::function<void()> ready) override;

  // The manager goes, and takes every process with it.
  void abandon();
  // A simulated checkpoint: how far the leader has come is known to the manager under `image` from
  // now on. Error: wrong_state (does not run).
  [[nodiscard]] Result<void> remember(const std::string& image);
  // As start(), but goes on as remembered; as start() if nothing is known under that name.
  [[nodiscard]] Result<void> start_from(const std::string& image) { return start_as(image); }
  // Calls `ended` once, without the lock, when the process has ended; at once if it has. For those
  // who neither wait nor read its events: waiting moves time.
  void when_ended(std::function<void()> ended);

 private:
  using StopCallback = std::stop_callback<std::function<void()>>;
  enum class State : std::uint8_t { created, running, ended };

  // TreeOwner
  void on_end(Lock& lock, int exit_code, int signal) override;
  void on_limit(Lock& lock, Verdict verdict, std::string evidence) override;
  void on_events(Lock& lock) override;
  [[nodiscard]] Self::Facts facts(const Task& task) const override;
  [[nodiscard]] std::shared_ptr<const void> keep() override { return shared_from_this(); }

  // Without the lock.
  void watch_cancellation();
  void cancel();

  // With the lock.
  [[nodiscard]] Result<void> start_as(const std::string& image);
  [[nodiscard]] Result<void> launch(const std::string& image);
  [[nodiscard]] Result<SharedProgram> find_program();
  [[nodiscard]] Result<void> open_streams();
  void stop(Lock& lock, Verdict cause, Duration grace, std::string evidence = {});
  void end(Lock& lock, std::shared_ptr<const Outcome> outcome);
  [[nodiscard]] Duration timeout() const;
  [[nodiscard]] bool has_news() const;
  void queue_exit();
  void tell(Lock& lock);
  void heard();
  void withdraw_notify(Lock& lock);
  void close_writer();
  [[nodiscard]] Result<void> must_be_created(std::string_view operation) const;
  [[nodiscard]] Result<void> must_run(std::string_view operation) const;
  [[nodiscard]] Result<void> must_have_stdin(std::string_view operation) const;
  template <typename Field>
  [[nodiscard]] Result<void> replace(Field Request::* field, Field value, std::string_view name);

  static void on_deadline(void* process, Lock& lock);
  static void on_grace_over(void* process, Lock& lock);

  [[nodiscard]] Simulation& simulation() const { return universe_->simulation; }

  const std::shared_ptr<Universe> universe_;
  const ProcessId id_;
  State state_ = State::created;
  Request request_;
  Limits limits_;
  Tree tree_;

  std::optional<WallTime> started_wall_;
  Timer deadline_;
  Timer grace_over_;
  supervise::StopLadder ladder_;
  std::string evidence_;
  std::shared_ptr<StopCallback> stop_callback_;

  int readers_ = 0;
  std::function<void()> ready_;
  bool told_ = false;  // ready_ was called, but nobody has come yet
  bool exit_queued_ = false;
  bool writing_ = false;  // somebody is in write_stdin() …
  bool close_after_writing_ = false;
  std::optional<TerminalSize> terminal_;  // as resized
  struct Measured {
    TimePoint at{};
    Duration cpu{0};
  };
  Measured last_status_{};
  std::shared_ptr<const Outcome> outcome_;
  std::vector<std::function<void()>> when_ended_;
};

}  // namespace cordon::memory
