// The operations behind asio.h. Not for direct use.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/query.hpp>
#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "cordon/error.h"
#include "cordon/events.h"
#include "cordon/outcome.h"
#include "cordon/process.h"

namespace cordon::detail {

namespace asio = boost::asio;
using boost::system::error_code;

// Boost's base class has a protected destructor, which is not virtual on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
class ErrorCategory final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "cordon"; }
  std::string message(int value) const override {
    return std::string(to_string(static_cast<ErrorCode>(value - 1)));
  }
};
#pragma GCC diagnostic pop

// Zero would be success.
inline error_code error_code_of(ErrorCode code) {
  static const ErrorCategory kCategory;
  return {static_cast<int>(code) + 1, kCategory};
}

// An operation that waits to be called by one of the library's threads.
class Pending {
 public:
  Pending() = default;
  virtual ~Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual void abandon() = 0;  // its execution context is going
};

// The pending operations of one execution context. They are known to a process, which may outlive
// the context; so the context has to know them too.
class PendingOperations : public asio::execution_context::service {
 public:
  using key_type = PendingOperations;  // NOLINT(readability-identifier-naming)
  inline static asio::execution_context::id id;
  using List = std::list<std::shared_ptr<Pending>>;

  explicit PendingOperations(asio::execution_context& context) : service(context) {}

  List::iterator add(std::shared_ptr<Pending> operation) {
    const std::lock_guard lock(mutex_);
    return all_.insert(all_.end(), std::move(operation));
  }
  void remove(List::iterator entry) {
    List removed;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    removed.splice(removed.end(), all_, entry);
  }

 private:
  void shutdown() override {
    List all;
    {
      const std::lock_guard lock(mutex_);
      all.swap(all_);
    }
    for (const auto& operation : all) operation->abandon();
  }

  std::mutex mutex_;
  List all_;
};

// Takes events from `Goal::stream()` until `Goal::offer()` is satisfied, then calls `Handler` with
// `Goal::value`.
//
// The life of one: wait() asks the stream to be called; wake(), on any thread, queues step() on the
// handler's executor; step() takes one event and completes or waits again. The callback may be
// destroyed by a thread that holds the process's lock, so it must never be what destroys the
// handler or the goal: complete() and abandon() do that.
template <typename Goal, typename Handler>
class Operation final : public Pending,
                        public std::enable_shared_from_this<Operation<Goal, Handler>> {
 public:
  Operation(Goal goal, Handler handler)
      : work_(asio::get_associated_executor(handler)),
        others_(asio::use_service<PendingOperations>(
            asio::query(work_.get_executor(), asio::execution::context))),
        handler_(std::move(handler)),
        goal_(std::move(goal)) {}

  void begin() {
    entry_ = others_.add(this->shared_from_this());
    if (auto slot = asio::get_associated_cancellation_slot(*handler_); slot.is_connected()) {
      slot.assign([self = this->weak_from_this()](asio::cancellation_type type) {
        if (type == asio::cancellation_type::none) return;
        if (const auto operation = self.lock()) operation->cancel();
      });
    }
    if (goal_->reached()) {
      wake(false);
    } else {
      wait();
    }
  }

  void abandon() override {
    {
      const std::lock_guard lock(mutex_);
      stage_ = Stage::done;
    }
    handler_.reset();
    goal_.reset();
    work_.reset();
  }

 private:
  using Executor = asio::associated_executor_t<Handler>;
  enum class Stage : std::uint8_t { asking, waiting, queued, done };

  // Held by the callback: when that is dropped without having been called, there is nothing left
  // to wait for.
  struct Callback {
    explicit Callback(std::shared_ptr<Operation> o) : operation(std::move(o)) {}
    Callback(const Callback&) = delete;
    Callback& operator=(const Callback&) = delete;
    ~Callback() {
      if (operation) operation->wake(true);
    }
    void call() { std::exchange(operation, nullptr)->wake(false); }

    std::shared_ptr<Operation> operation;
  };

  void wait() {
    ask([callback = std::make_shared<Callback>(this->shared_from_this())] { callback->call(); });
    const std::lock_guard lock(mutex_);
    if (woken_) {
      queue_step();
    } else {
      stage_ = Stage::waiting;
    }
  }

  // Calls notify() so that step() cannot run on another thread, and the handler destroy the stream,
  // before it has returned.
  void ask(std::function<void()> ready) {
    {
      const std::lock_guard lock(mutex_);
      stage_ = Stage::asking;
      woken_ = false;
    }
    goal_->stream().notify(std::move(ready));
  }

  // On any thread.
  void wake(bool aborted) {
    const std::lock_guard lock(mutex_);
    if (stage_ != Stage::asking && stage_ != Stage::waiting) return;
    woken_ = true;
    aborted_ |= aborted;
    if (stage_ == Stage::waiting) queue_step();
  }

  // The lock is held: abandon() must not let the context go in the meantime.
  void queue_step() {
    stage_ = Stage::queued;
    asio::post(work_.get_executor(), [self = this->shared_from_this()] { self->step(); });
  }

  // On the handler's executor, as Asio asks of those who emit cancellation signals.
  void cancel() {
    {
      const std::lock_guard lock(mutex_);
      if (stage_ == Stage::done || aborted_) return;
      aborted_ = true;
      if (stage_ == Stage::queued) return;  // step() will see it
    }
    ask(nullptr);
    const std::lock_guard lock(mutex_);
    queue_step();
  }

  // On the handler's executor.
  void step() {
    {
      const std::lock_guard lock(mutex_);
      if (stage_ == Stage::done) return;
    }
    if (aborted_) return complete(asio::error::operation_aborted);  // nobody else sets it now
    if (goal_->reached()) return complete({});
    auto next = goal_->stream().next_for(Duration{0});
    if (next ? goal_->offer(std::move(*next)) : next.error().code != ErrorCode::timed_out) {
      return complete(next ? error_code{} : error_code_of(next.error().code));
    }
    wait();  // for more, or because another stream of the process was quicker
  }

  void complete(error_code error) {
    {
      const std::lock_guard lock(mutex_);
      stage_ = Stage::done;
    }
    others_.remove(entry_);
    Handler handler = std::move(*handler_);
    typename Goal::Value value = std::move(goal_->value);
    handler_.reset();
    goal_.reset();
    const auto work = std::move(work_);
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
      slot.clear();
    }
    std::move(handler)(error, std::move(value));
  }

  asio::executor_work_guard<Executor> work_;
  PendingOperations& others_;
  PendingOperations::List::iterator entry_;
  std::optional<Handler> handler_;
  std::optional<Goal> goal_;

  std::mutex mutex_;  // of what follows, between the loop and the thread of the callback
  Stage stage_ = Stage::waiting;
  bool woken_ = false;
  bool aborted_ = false;
};

struct NextEvent {
  using Value = std::optional<Event>;
  EventStream* from;
  Value value{};

  EventStream& stream() { return *from; }
  bool reached() { return false; }
  bool offer(std::optional<Event> event) {
    value = std::move(event);
    return true;
  }
};

struct End {
  using Value = Outcome;
  std::shared_ptr<Process> process;
  Value value{};
  std::optional<EventStream> events{};

  EventStream& stream() {
    if (!events) events.emplace(process->events());
    return *events;
  }
  bool reached() {
    auto outcome = process->outcome();
    if (outcome) value = std::move(*outcome);
    return outcome.has_value();
  }
  bool offer(const std::optional<Event>& /*unwanted*/) { return reached(); }
};

struct Begin {
  template <typename Handler, typename Goal>
  void operator()(Handler&& handler, Goal goal) const {
    using Op = Operation<Goal, std::decay_t<Handler>>;
    std::make_shared<Op>(std::move(goal), std::forward<Handler>(handler))->begin();
  }
};

}  // namespace cordon::detail
