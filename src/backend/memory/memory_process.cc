#include "backend/memory/memory_process.h"

#include <algorithm>
#include <utility>

#include "backend/memory/start_error.h"
#include "base/errors.h"
#include "outcome/decide.h"

namespace cordon::memory {

using base::fail;

namespace {
constexpr const char* kBackend = "memory";
}  // namespace

MemoryProcess::MemoryProcess(std::shared_ptr<Universe> universe, ProcessId id, Request request,
                             Limits limits)
    : universe_(std::move(universe)),
      id_(id),
      request_(std::move(request)),
      limits_(std::move(limits)),
      tree_(*universe_, *this),
      deadline_(&MemoryProcess::on_deadline, this),
      grace_over_(&MemoryProcess::on_grace_over, this) {}

MemoryProcess::~MemoryProcess() { universe_->table.remove(id_); }

// --- From start …

Result<void> MemoryProcess::remember(const std::string& image) {
  Lock lock(simulation());
  simulation().settle(lock);
  if (auto ok = must_run("checkpoint"); !ok) return ok;
  universe_->images[image] = std::make_shared<const Task::Image>(tree_.image());
  return {};
}

Result<void> MemoryProcess::start_as(const std::string& image) {
  {
    Lock lock(simulation());
    if (state_ != State::created) {
      return fail(ErrorCode::wrong_state, "start",
                  request_.program + " was started before: create a new process to run it again");
    }
    if (auto launched = launch(image); !launched) {
      end(lock, std::make_shared<const Outcome>(outcome::failed_to_start(
                    id_, kBackend, universe_->enforcement, launched.error())));
      return launched;
    }
    if (request_.cancel.stop_requested()) stop(lock, Verdict::cancelled, request_.grace);
  }
  if (request_.cancel.stop_possible()) watch_cancellation();
  return {};
}

Result<void> MemoryProcess::launch(const std::string& image) {
  if (universe_->closed) {
    return fail(ErrorCode::wrong_state, "start", "the manager of this process is gone");
  }
  const auto known = universe_->images.find(image);
  Result<SharedProgram> program;
  if (known == universe_->images.end()) program = find_program();
  if (!program) return std::unexpected(std::move(program.error()));
  if (auto opened = open_streams(); !opened) return opened;

  state_ = State::running;
  started_wall_ = simulation().wall_now();
  last_status_ = {simulation().now()};
  universe_->table.hold(id_, shared_from_this());
  if (known != universe_->images.end()) {
    tree_.resume(*known->second, limits_);
  } else {
    tree_.start(std::move(*program), limits_);
  }
  if (const TimePoint at = simulation().after(timeout()); at != TimePoint::max()) {
    simulation().arm(deadline_, at);
  }
  return {};
}

Result<SharedProgram> MemoryProcess::find_program() {
  const auto known = universe_->programs.find(request_.program);
  if (known == universe_->programs.end()) {
    return std::unexpected(name_program(exec_error(ENOENT), request_.program));
  }
  auto& [programs, started] = known->second;
  SharedProgram program = programs[std::min(started++, programs.size() - 1)];
  if (const auto& error = program->start_error()) {
    return std::unexpected(name_program(*error, request_.program));
  }
  return program;
}

// Without the lock: a stop that was requested before runs the callback at once, in this thread.
void MemoryProcess::watch_cancellation() {
  auto callback = std::make_shared<StopCallback>(request_.cancel, [self = weak_from_this()] {
    if (const auto process = self.lock()) process->cancel();
  });
  Lock lock(simulation());
  // Destroyed without the lock too: that waits for a callback which wants it.
  if (state_ == State::running) {
    stop_callback_ = std::move(callback);
  } else {
    lock.drop_later(std::move(callback));
  }
}

// --- … over what may end it …

Duration MemoryProcess::timeout() const {
  return request_.timeout == Duration{0} ? kDefaultTimeout : request_.timeout;
}

void MemoryProcess::on_deadline(void* process, Lock& lock) {
  auto& self = *static_cast<MemoryProcess*>(process);
  self.stop(lock, Verdict::timeout, self.request_.grace);
}

void MemoryProcess::on_grace_over(void* process, Lock& lock) {
  auto& self = *static_cast<MemoryProcess*>(process);
  const int signal = self.ladder_.on_time(self.simulation().now());
  if (signal != 0) self.tree_.signal(lock, signal, Reach::tree);
}

void MemoryProcess::on_limit(Lock& lock, Verdict verdict, std::string evidence) {
  stop(lock, verdict, Duration{0}, std::move(evidence));
}

void MemoryProcess::cancel() {
  Lock lock(simulation());
  if (state_ != State::running) return;
  simulation().settle(lock);
  if (state_ == State::running) stop(lock, Verdict::cancelled, request_.grace);
}

void MemoryProcess::stop(Lock& lock, Verdict cause, Duration grace, std::string evidence) {
  if (!ladder_.cause()) evidence_ = std::move(evidence);
  const int signal = ladder_.begin(cause, simulation().now(), grace);
  if (const auto next = ladder_.next(); next && *next != TimePoint::max()) {
    simulation().arm(grace_over_, *next);
  }
  if (signal == 0) return;
  tree_.signal(lock, signal, Reach::tree);
  if (signal != SIGKILL && state_ == State::running) {
    tree_.signal(lock, SIGCONT, Reach::tree);  // a stopped program hears it
  }
}

void MemoryProcess::abandon() {
  Lock lock(simulation());
  if (state_ == State::running) stop(lock, Verdict::cancelled, Duration{0});
}

// --- … to the end.

void MemoryProcess::on_end(Lock& lock, int exit_code, int signal) {
  outcome::Ending e;
  e.id = id_;
  e.backend = kBackend;
  e.enforcement = universe_->enforcement;
  e.first_action = ladder_.cause();
  e.evidence = evidence_;
  e.exit_code = exit_code;
  e.signal = signal;
  e.wall = tree_.elapsed();
  e.usage = tree_.usage();
  e.output_bytes = tree_.output().bytes();
  e.output_truncated = tree_.output().truncated();
  e.timeout = timeout();
  e.limits = limits_;
  e.limits_hit = tree_.limits_hit();
  end(lock, std::make_shared<const Outcome>(outcome::decide(e)));
}

void MemoryProcess::end(Lock& lock, std::shared_ptr<const Outcome> outcome) {
  const bool ran = state_ == State::running;
  state_ = State::ended;
  outcome_ = std::move(outcome);
  simulation().cancel(deadline_);
  simulation().cancel(grace_over_);
  on_events(lock);
  for (auto& ended : std::exchange(when_ended_, {})) lock.call_later(std::move(ended));
  if (stop_callback_) lock.drop_later(std::exchange(stop_callback_, nullptr));
  if (ran) lock.drop_later(universe_->table.release(id_));
}

void MemoryProcess::when_ended(std::function<void()> ended) {
  Lock lock(simulation());
  if (state_ == State::ended) {
    lock.call_later(std::move(ended));
  } else {
    when_ended_.push_back(std::move(ended));
  }
}

// --- What callers do meanwhile.

Result<Outcome> MemoryProcess::wait_for(Duration patience) {
  Lock lock(simulation());
  if (state_ == State::created) {
    return fail(ErrorCode::wrong_state, "wait", request_.program + " has not been started");
  }
  const TimePoint until = simulation().after(patience);
  if (!simulation().wait(lock, until, [this] { return state_ == State::ended; })) {
    return fail(ErrorCode::timed_out, "wait", request_.program + " is still running");
  }
  return *outcome_;
}

Result<void> MemoryProcess::signal(int signal, Reach reach) {
  Lock lock(simulation());
  simulation().settle(lock);
  if (auto ok = must_run("signal"); !ok) return ok;
  if (signal < 1 || signal > kLastSignal) {
    return fail(ErrorCode::invalid_argument, "signal",
                "there is no signal " + std::to_string(signal) + ": use 1 to " +
                    std::to_string(kLastSignal));
  }
  tree_.signal(lock, signal, reach);
  return {};
}

Result<void> MemoryProcess::terminate(Duration grace) {
  Lock lock(simulation());
  simulation().settle(lock);
  if (auto ok = must_run("terminate"); !ok) return ok;
  stop(lock, Verdict::cancelled, grace);
  return {};
}

}  // namespace cordon::memory
