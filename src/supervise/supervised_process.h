// A real process under supervision: the Process interface over any Backend.
//
// One mutex guards everything. Nobody sleeps while holding it: a thread in wait(), write_stdin() or
// a stream's next() polls the process's own descriptors with the lock released, and whoever first
// notices the end of the program finishes the run. So the calling thread needs no hop through
// another one; the loop's thread does the same for processes that nobody waits for.
#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "cordon/process.h"
#include "supervise/backend.h"
#include "supervise/loop.h"
#include "supervise/output_pump.h"
#include "supervise/process_table.h"
#include "supervise/stop_ladder.h"

namespace cordon::supervise {

// What the processes of one Manager share; outlives it.
struct Shared {
  explicit Shared(std::unique_ptr<Backend> b) : backend(std::move(b)) {}

  std::unique_ptr<Backend> backend;
  ProcessTable table;

  // The loop, made when first needed. Errors: wrong_state once the Manager is gone;
  // resource_exhausted.
  [[nodiscard]] Result<Loop*> loop();
  void close_loop();

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::unique_ptr<Loop> loop_;
};

class SupervisedProcess final : public Process,
                                public EventSource,
                                public Wakeable,
                                public std::enable_shared_from_this<SupervisedProcess> {
 public:
  SupervisedProcess(std::shared_ptr<Shared> shared, ProcessId id, Request request, Limits limits,
                    std::unique_ptr<Child> child);
  ~SupervisedProcess() override;

  // Process
  [[nodiscard]] Result<void> start() override;
  [[nodiscard]] Result<Outcome> wait() override { return wait_for(kNoTimeout); }
  [[nodiscard]] Result<Outcome> wait_for(Duration patience) override;
  [[nodiscard]] Result<void> signal(int signal, Reach reach) override;
  [[nodiscard]] Result<void> terminate(Duration grace) override;
  [[nodiscard]] Result<void> kill() override;
  [[nodiscard]] Result<void> set_stdin(Input input) override;
  [[nodiscard]] Result<void> set_stdout(Output output) override;
  [[nodiscard]] Result<void> set_stderr(Output output) override;
  [[nodiscard]] Result<void> set_limits(const Limits& limits) override;
  [[nodiscard]] Limits limits() const override;
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data, Duration patience) override;
  [[nodiscard]] Result<void> close_stdin() override;
  [[nodiscard]] Result<void> resize_terminal(TerminalSize size) override;
  [[nodiscard]] ProcessId id() const override { return id_; }
  [[nodiscard]] std::optional<std::int64_t> os_pid() const override;
  [[nodiscard]] bool running() const override;
  [[nodiscard]] std::optional<int> exit_code() const override;
  [[nodiscard]] Status status() override;
  [[nodiscard]] EventStream events() override;
  [[nodiscard]] std::optional<Outcome> outcome() const override;

  // EventSource
  void attach() override;
  void detach(std::vector<Event> unread) override;
  [[nodiscard]] Result<void> take(std::vector<Event>& batch, Duration patience) override;
  void notify(std::function<void()> ready) override;

  // Wakeable
  void on_wake() override;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using StopCallback = std::stop_callback<std::function<void()>>;
  enum class State : std::uint8_t { created, starting, running, ended };

  // All below: the lock is held, and held again on return.
  [[nodiscard]] Result<void> must_be_created(std::string_view operation) const;
  [[nodiscard]] Result<void> must_run(std::string_view operation) const;
  [[nodiscard]] Result<void> launch();
  template <typename Field>
  [[nodiscard]] Result<void> replace(Field Request::* field, Field value, std::string_view name);

  void stop(Verdict cause, Duration grace, std::string evidence = {});
  void check_deadlines();
  void check_cpu_time(TimePoint now);
  void watch_alarm();
  void on_alarm();
  void look();
  void arm();
  void finish_if_ended();
  void end(std::shared_ptr<const Outcome> outcome);
  void release_if_idle();

  void read_stream(std::size_t stream);
  void go_on_reading();
  void watch_outputs();
  void watch_output(std::size_t stream);
  void pull(Lock& lock, TimePoint until);
  void feed_stdin();
  [[nodiscard]] bool drop_oldest() const;
  [[nodiscard]] Duration since_start() const;
  [[nodiscard]] static TimePoint after(Duration patience);

  // Polls with the lock released.
  struct Wanted {
    int fd;  // < 0: ignored
    short events;
    bool ready;
  };
  void poll(Lock& lock, std::span<Wanted> wanted, TimePoint until);
  // Does what must happen without the lock (callbacks, dropping references), after any change.
  void settle(Lock& lock);
  // For callbacks on the loop's thread.
  [[nodiscard]] std::function<void()> on_loop(void (SupervisedProcess::*step)());
  void on_exit_ready();
  void on_alarm_ready();
  void on_stdin_ready();
  void on_stdout_ready() { on_output_ready(0); }
  void on_stderr_ready() { on_output_ready(1); }
  void on_output_ready(std::size_t stream);

  const std::shared_ptr<Shared> shared_;
  const ProcessId id_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::created;
  Request request_;
  Limits limits_;
  Loop* loop_ = nullptr;  // while running
  std::unique_ptr<Child> child_;
  int pollers_ = 0;  // threads using our descriptors with the lock released

  TimePoint started_;
  WallTime started_wall_;
  std::optional<TimePoint> deadline_;
  std::optional<TimePoint> cpu_check_;
  std::optional<TimePoint> alarm_check_;
  std::optional<TimePoint> look_;  // the next, at a child that must be looked at
  int alarm_looks_ = 0;
  static constexpr int kMostLooks = 50;  // for what an alarm was about, before it counts as nothing
  std::optional<TimePoint> armed_;
  StopLadder ladder_;
  std::string evidence_;
  std::optional<StopCallback> stop_callback_;

  OutputPump pump_;
  int attached_ = 0;
  bool pulling_ = false;  // a reader's thread reads the pipes, not the loop
  std::function<void()> ready_;
  std::array<std::unique_ptr<Loop::Watch>, OutputPump::kStreams> output_watch_;
  std::array<bool, OutputPump::kStreams> output_pending_{};
  std::unique_ptr<Loop::Watch> exit_watch_;
  std::unique_ptr<Loop::Watch> alarm_watch_;

  base::Fd stdin_;
  std::unique_ptr<Loop::Watch> stdin_watch_;
  std::size_t stdin_sent_ = 0;  // of Input::bytes
  bool stdin_busy_ = false;     // a writer is at work
  bool stdin_close_ = false;    // … and is to close it afterwards

  struct Measured {
    TimePoint at;
    Duration cpu{0};
  };
  std::optional<Measured> last_status_;

  std::shared_ptr<const Outcome> outcome_;
  bool ended_unsettled_ = false;
};

}  // namespace cordon::supervise
