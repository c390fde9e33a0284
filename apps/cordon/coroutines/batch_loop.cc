#include "batch_loop.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

#include "base/errors.h"
#include "batch_request.h"
#include "batch_results.h"
#include "concat.h"
#include "cordon/asio.h"
#include "message.h"
#include "policy/values.h"
#include "wake.h"

namespace cordon::app {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMostBytesHeld = std::size_t{64} * 1024 * 1024;
constexpr auto kTryAgain = std::chrono::milliseconds(20);

std::size_t processors() { return std::max(2U, std::thread::hardware_concurrency()); }

// More would only wait for the policy's leave.
std::size_t workers_for(const BatchWork& work) {
  const auto most = policy::most_live_runs(work.shared.policy);
  if (!most || most->value == 0) return work.options.jobs;
  return std::min<std::size_t>(work.options.jobs, most->value);
}

bool is_ignored(int signal) {
  struct sigaction action{};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Waits for others of the same thread: whoever waits looks again once it was rung.
class Bell {
 public:
  explicit Bell(asio::io_context& io) : timer_(io, asio::steady_timer::time_point::max()) {}
  void ring() { timer_.cancel(); }
  asio::awaitable<void> heard() {
    boost::system::error_code rung;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, rung));
  }

 private:
  asio::steady_timer timer_;
};

// Calls `function`, which may block, on another thread.
template <typename Function>
auto elsewhere(asio::thread_pool& threads, Function function) {
  using Value = std::invoke_result_t<Function>;
  return asio::co_spawn(
      threads, [f = std::move(function)]() mutable -> asio::awaitable<Value> { co_return f(); },
      asio::use_awaitable);
}

class Loop {
 public:
  Loop(const BatchWork& work, Wake abandoned)
      : work_(work),
        abandoned_(std::move(abandoned)),
        workers_(workers_for(work)),
        changed_(io_),
        ready_(io_),
        signals_(io_),
        tick_(io_),
        order_(4 * work.options.jobs + 64, kMostBytesHeld),
        clock_(work.shared.manager.clock()),
        begin_(clock_.now()),
        helpers_(std::min(workers_, processors())),
        writer_(1) {}

  BatchEnd run();

 private:
  struct Task {
    std::uint64_t index = 0;
    ResultHead head{};
    InputLine line{};
  };

  void spawn(asio::awaitable<void> coroutine);
  asio::awaitable<void> work();
  asio::awaitable<void> serve(Task task);
  asio::awaitable<void> run_request(Task task, RunOptions options);
  asio::awaitable<BatchRun::Launch> launch(std::shared_ptr<BatchRun> run);
  asio::awaitable<void> write_results();
  asio::awaitable<void> watch_signals();
  asio::awaitable<void> show_progress();

  [[nodiscard]] std::optional<Task> next_task();
  void put(const Task& task, std::string text);
  void put_error(const Task& task, const Error& error);
  [[nodiscard]] bool going() const { return end_.signal == 0 && !end_.failure; }
  [[nodiscard]] bool late() const;
  [[nodiscard]] Error too_late() const;
  void on_signal(int signal);
  void stop(bool now);
  void fail(Error error);
  [[nodiscard]] Progress progress() const;
  void say_that_we_wait();

  const BatchWork& work_;
  Wake abandoned_;
  std::size_t workers_;
  asio::io_context io_{1};
  Bell changed_;  // there may be room
  Bell ready_;    // there may be something to write
  asio::signal_set signals_;
  asio::steady_timer tick_;
  ResultOrder order_;
  Clock& clock_;
  TimePoint begin_;
  std::uint64_t taken_ = 0;
  std::uint64_t finished_ = 0;
  std::set<std::shared_ptr<BatchRun>> live_;
  std::size_t running_ = 0;  // of the live ones
  bool over_ = false;
  bool stopped_now_ = false;
  bool said_that_we_wait_ = false;
  BatchEnd end_;
  asio::thread_pool helpers_;
  asio::thread_pool writer_;
};

void Loop::spawn(asio::awaitable<void> coroutine) {
  asio::co_spawn(io_, std::move(coroutine), [](const std::exception_ptr& thrown) {
    if (thrown) std::rethrow_exception(thrown);
  });
}

BatchEnd Loop::run() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) signals_.add(signal);
  }
  for (std::size_t i = 0; i < workers_; ++i) spawn(work());
  spawn(write_results());
  spawn(watch_signals());
  if (work_.display.period() > Duration{0}) spawn(show_progress());
  io_.run();
  end_.progress = progress();
  return std::move(end_);
}

asio::awaitable<void> Loop::work() {
  while (true) {
    while (going() && !order_.has_room()) co_await changed_.heard();
    std::optional<Task> task = next_task();
    if (!task) break;
    co_await serve(*std::move(task));
  }
  --workers_;
  ready_.ring();
}

std::optional<Loop::Task> Loop::next_task() {
  if (!going()) return std::nullopt;
  auto line = work_.requests.next();
  if (!line) {
    fail(std::move(line).error());
    return std::nullopt;
  }
  if (!*line) return std::nullopt;
  Task task{.index = taken_++, .line = **std::move(line)};
  task.head = {.line = task.line.number, .digest = request_digest(task.line, work_.options.asked)};
  return task;
}

asio::awaitable<void> Loop::serve(Task task) {
  auto request = read_request(task.line, work_.input.name(), work_.options.defaults);
  if (!request) {
    task.head.id = find_id(task.line);
    put_error(task, request.error());
    co_return;
  }
  task.head.id = request->id;
  task.line.text.clear();
  if (late()) {
    put_error(task, too_late());
    co_return;
  }
  co_await run_request(std::move(task), std::move(request->options));
}

asio::awaitable<void> Loop::run_request(Task task, RunOptions options) {
  const auto run = std::make_shared<BatchRun>(work_.shared, std::move(options));
  live_.insert(run);
  const BatchRun::Launch launched = co_await launch(run);
  if (launched == BatchRun::Launch::busy) {
    live_.erase(run);
    if (going()) put_error(task, too_late());
    co_return;
  }
  Capture captured(work_.options.capture);
  if (launched == BatchRun::Launch::running) {
    ++running_;
    while (auto event = co_await async_next(run->events(), asio::use_awaitable)) {
      if (event->outcome) run->ended(*event->outcome);
      captured.add(event->kind, event->data.view());
    }
    --running_;
  }
  struct Told {
    std::string line;
    std::string verdict;
    std::optional<int> exit_code;
    bool complete = true;
  };
  const Told told = co_await elsewhere(helpers_, [&]() -> Told {
    const auto [outcome, complete] = run->finish(captured.finish());
    return {.line = result_line(task.head, outcome),
            .verdict = std::string(to_string(outcome.verdict)),
            .exit_code = outcome.exit_code,
            .complete = complete};
  });
  live_.erase(run);
  end_.recorded = end_.recorded && told.complete;
  if (run->stopped()) co_return;  // it will be run again, by whoever goes on
  work_.tally.add(told.verdict, told.exit_code);
  put(task, told.line);
}

asio::awaitable<BatchRun::Launch> Loop::launch(std::shared_ptr<BatchRun> run) {
  while (true) {
    const bool alone = running_ == 0;
    const auto launched = co_await elsewhere(helpers_, [&] { return run->launch(alone); });
    if (launched != BatchRun::Launch::busy || !going() || late()) co_return launched;
    say_that_we_wait();
    asio::steady_timer timer(io_, kTryAgain);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

asio::awaitable<void> Loop::write_results() {
  while (true) {
    const std::string lines = order_.take();
    if (!lines.empty()) {
      const std::uint64_t count = static_cast<std::uint64_t>(std::ranges::count(lines, '\n'));
      const auto written =
          co_await elsewhere(writer_, [&] { return work_.results.write(lines, abandoned_.fd()); });
      if (!written && written.error().code != ErrorCode::timed_out) fail(written.error());
      if (!written) break;
      end_.written += count;
      changed_.ring();
    } else if (workers_ == 0) {
      break;
    } else {
      co_await ready_.heard();
    }
  }
  while (workers_ > 0) co_await ready_.heard();
  over_ = true;  // whoever does not wait yet must not begin to
  signals_.cancel();
  tick_.cancel();
}

asio::awaitable<void> Loop::watch_signals() {
  while (!over_) {
    boost::system::error_code cancelled;
    const int signal =
        co_await signals_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!cancelled) on_signal(signal);
  }
}

asio::awaitable<void> Loop::show_progress() {
  while (!over_) {
    boost::system::error_code cancelled;
    tick_.expires_after(work_.display.period());
    co_await tick_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    if (!over_) work_.display.draw(progress(), work_.tally);
  }
}

void Loop::put(const Task& task, std::string text) {
  ++finished_;
  order_.put(task.index, std::move(text));
  ready_.ring();
}

void Loop::put_error(const Task& task, const Error& error) {
  work_.tally.add_error();
  put(task, result_line(task.head, error));
}

bool Loop::late() const {
  return work_.options.deadline && clock_.now() - begin_ >= *work_.options.deadline;
}

Error Loop::too_late() const {
  return {.code = ErrorCode::timed_out,
          .stage = "deadline",
          .os_error = 0,
          .message = concat("not run: its turn had not come when the deadline of the batch (",
                            policy::duration_text(*work_.options.deadline),
                            ") was over; raise --deadline or --jobs")};
}

void Loop::on_signal(int signal) {
  const bool again = end_.signal != 0;
  if (again && stopped_now_) std::_Exit(128 + signal);
  if (!again) end_.signal = signal;
  stop(again);
}

void Loop::stop(bool now) {
  stopped_now_ = now;
  if (now) abandoned_.set();
  for (const auto& run : live_) run->stop(now);
  changed_.ring();
}

void Loop::fail(Error error) {
  if (!end_.failure) end_.failure = std::move(error);
  stop(false);
}

Progress Loop::progress() const {
  return {.done = work_.done + finished_,
          .total = work_.total,
          .done_before = work_.done,
          .elapsed = clock_.now() - begin_};
}

void Loop::say_that_we_wait() {
  if (std::exchange(said_that_we_wait_, true) || work_.options.quiet) return;
  work_.display.clear();
  complain("no further program may run now, by the policy or for want of room: waiting for one");
}

}  // namespace

BatchEnd run_batch(const BatchWork& work) try {
  auto abandoned = Wake::create();
  if (!abandoned) return {.failure = abandoned.error()};
  return Loop(work, *std::move(abandoned)).run();
} catch (const std::exception& thrown) {  // Asio's: no memory, no threads, no descriptors
  return {.failure = Error{.code = ErrorCode::resource_exhausted,
                           .stage = "batch",
                           .os_error = 0,
                           .message = concat("the batch cannot go on: ", thrown.what())}};
}

}  // namespace cordon::app
