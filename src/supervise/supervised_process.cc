#include "supervise/supervised_process.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <thread>
#include <utility>

#include "base/errors.h"
#include "outcome/decide.h"
#include "supervise/stdio.h"

namespace cordon::supervise {

using base::fail;

namespace {

TimePoint now() { return real_clock().now(); }

}  // namespace

TimePoint SupervisedProcess::after(Duration patience) {
  const TimePoint t = now();
  return patience > TimePoint::max() - t ? TimePoint::max() : t + patience;
}

Result<Loop*> Shared::loop() {
  const std::lock_guard lock(mutex_);
  if (closed_) {
    return fail(ErrorCode::wrong_state, "start", "the manager of this process is gone");
  }
  if (!loop_) {
    auto made = Loop::make();
    if (!made) return std::unexpected(std::move(made.error()));
    loop_ = std::move(*made);
  }
  return loop_.get();
}

void Shared::close_loop() {
  std::unique_ptr<Loop> last;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  last = std::move(loop_);
}

SupervisedProcess::SupervisedProcess(std::shared_ptr<Shared> shared, ProcessId id, Request request,
                                     Limits limits, std::unique_ptr<Child> child)
    : shared_(std::move(shared)),
      id_(id),
      request_(std::move(request)),
      limits_(std::move(limits)),
      child_(std::move(child)),
      pump_(request_.event_buffer) {}

SupervisedProcess::~SupervisedProcess() { shared_->table.remove(id_); }

Result<void> SupervisedProcess::start() {
  Lock lock(mutex_);
  if (state_ != State::created) {
    return fail(ErrorCode::wrong_state, "start",
                request_.program + " was started before: create a new process to run it again");
  }
  state_ = State::starting;
  if (request_.cancel.stop_possible()) {
    // Runs at once, in this thread, if a stop was requested before: not under the lock.
    lock.unlock();
    stop_callback_.emplace(request_.cancel, [self = weak_from_this()] {
      if (const auto process = self.lock()) process->on_wake();
    });
    lock.lock();
  }

  Result<void> launched = launch();
  request_.secrets.clear();  // the program has them, or nobody will
  if (!launched) {
    end(std::make_shared<const Outcome>(outcome::failed_to_start(
        id_, std::string(shared_->backend->name()), child_->enforcement(), launched.error())));
  }
  settle(lock);
  return launched;
}

Result<void> SupervisedProcess::launch() {
  auto loop = shared_->loop();
  if (!loop) return std::unexpected(std::move(loop.error()));
  loop_ = *loop;
  auto io = open_stdio(request_);
  if (!io) return std::unexpected(std::move(io.error()));

  const LaunchSpec spec{request_, limits_, {io->child[0], io->child[1], io->child[2]}};
  started_wall_ = real_clock().wall_now();
  started_ = now();
  if (auto launched = child_->launch(spec); !launched) return launched;
  exit_watch_ = std::make_unique<Loop::Watch>(*loop_, child_->exit_fd());
  if (!exit_watch_->watching()) {
    exit_watch_.reset();
    return fail(ErrorCode::resource_exhausted, "start",
                "the kernel will not watch " + request_.program +
                    ": too many descriptors are watched (fs.epoll.max_user_watches)");
  }
  for (base::Fd& fd : io->owned) fd.reset();
  io->null.reset();

  state_ = State::running;
  shared_->table.hold(id_, shared_from_this());
  stdin_ = std::move(io->stdin_writer);
  pump_.set_limit(limits_.output_bytes);
  if (io->output[0]) pump_.open(0, std::move(io->output[0]), request_.out.framing);
  if (io->output[1]) pump_.open(1, std::move(io->output[1]), request_.err.framing);

  exit_watch_->when_readable(on_loop(&SupervisedProcess::on_exit_ready));
  watch_alarm();
  watch_outputs();
  if (request_.in.kind == Input::Kind::bytes) feed_stdin();

  const Duration timeout = request_.timeout == Duration{0} ? kDefaultTimeout : request_.timeout;
  if (timeout < TimePoint::max() - started_) deadline_ = started_ + timeout;
  if (limits_.cpu_time) cpu_check_ = started_;
  if (const auto period = child_->look_every()) look_ = after(*period);
  check_deadlines();
  return {};
}

Result<Outcome> SupervisedProcess::wait_for(Duration patience) {
  Lock lock(mutex_);
  if (state_ == State::created || state_ == State::starting) {
    return fail(ErrorCode::wrong_state, "wait", request_.program + " has not been started");
  }
  const TimePoint until = after(patience);
  // This thread will see the end and what there is to hear before: the loop's need not wake up for
  // that, and contend for the lock.
  const bool alone = until == TimePoint::max();
  if (alone) {
    exit_watch_.reset();
    alarm_watch_.reset();
  }
  while (state_ == State::running) {
    std::array wanted{Wanted{child_->exit_fd(), POLLIN, false},
                      Wanted{alone ? child_->alarm_fd() : -1, POLLIN, false}};
    poll(lock, wanted, until);
    finish_if_ended();
    if (state_ == State::running && wanted[1].ready) {
      on_alarm();
      arm();
    }
    if (state_ == State::running && until != TimePoint::max() && now() >= until) {
      settle(lock);
      return fail(ErrorCode::timed_out, "wait", request_.program + " is still running");
    }
  }
  Outcome outcome = *outcome_;
  settle(lock);
  return outcome;
}

Result<void> SupervisedProcess::signal(int signal, Reach reach) {
  Lock lock(mutex_);
  finish_if_ended();
  settle(lock);
  if (auto ok = must_run("signal"); !ok) return ok;
  if (signal < 1 || signal > SIGRTMAX) {
    return fail(
        ErrorCode::invalid_argument, "signal",
        "there is no signal " + std::to_string(signal) + ": use 1 to " + std::to_string(SIGRTMAX));
  }
  if (const int error = child_->send(signal, reach); error != 0) {
    return base::fail_os("signal", error,
                         "sending signal " + std::to_string(signal) + " to " + request_.program);
  }
  return {};
}

Result<void> SupervisedProcess::terminate(Duration grace) {
  Lock lock(mutex_);
  finish_if_ended();  // what ended by itself was not cancelled
  settle(lock);
  if (auto ok = must_run("terminate"); !ok) return ok;
  stop(Verdict::cancelled, grace);
  arm();
  return {};
}

Result<void> SupervisedProcess::kill() { return terminate(Duration{0}); }

void SupervisedProcess::stop(Verdict cause, Duration grace, std::string evidence) {
  if (!ladder_.cause()) evidence_ = std::move(evidence);
  const int signal = ladder_.begin(cause, now(), grace);
  if (signal == 0) return;
  // Whether it still lives is the reaper's business; ESRCH means it is about to be reaped.
  (void)child_->send(signal, Reach::tree);
  if (signal != SIGKILL) (void)child_->send(SIGCONT, Reach::tree);  // a stopped program hears it
}

void SupervisedProcess::check_deadlines() {
  const TimePoint t = now();
  if (request_.cancel.stop_requested()) stop(Verdict::cancelled, request_.grace);
  if (deadline_ && t >= *deadline_) {
    deadline_.reset();
    stop(Verdict::timeout, request_.grace);
  }
  if (const int signal = ladder_.on_time(t); signal != 0) (void)child_->send(signal, Reach::tree);
  check_cpu_time(t);
  if (alarm_check_ && t >= *alarm_check_) on_alarm();
  if (look_ && t >= *look_) look();
  arm();
}

void SupervisedProcess::check_cpu_time(TimePoint t) {
  if (!cpu_check_ || t < *cpu_check_) return;
  const auto sample = child_->sample();
  if (sample && sample->cpu >= *limits_.cpu_time) {
    cpu_check_.reset();
    stop(Verdict::cpu_time, Duration{0}, sample->evidence);
    return;
  }
  // The soonest the limit can be reached is with every processor at work for this program.
  constexpr Duration kFinest = std::chrono::milliseconds(5);
  const auto processors = std::max(1U, std::thread::hardware_concurrency());
  const Duration left = *limits_.cpu_time - (sample ? sample->cpu : Duration{0});
  cpu_check_ = t + std::max<Duration>(kFinest, left / processors);
}

void SupervisedProcess::arm() {
  std::optional<TimePoint> next = deadline_;
  for (const auto& other : {ladder_.next(), cpu_check_, alarm_check_, look_}) {
    if (other && (!next || *other < *next)) next = other;
  }
  if (!next || next == armed_) return;
  armed_ = next;
  loop_->wake_at(shared_from_this(), *next);
}

void SupervisedProcess::on_wake() {
  Lock lock(mutex_);
  armed_.reset();
  if (state_ != State::running) return;
  finish_if_ended();
  if (state_ == State::running) check_deadlines();
  settle(lock);
}

void SupervisedProcess::on_exit_ready() {
  finish_if_ended();
  // Asio may report a descriptor ready that is not: it reuses the record of one that was.
  if (state_ == State::running && exit_watch_) {
    exit_watch_->when_readable(on_loop(&SupervisedProcess::on_exit_ready));
  }
}

void SupervisedProcess::watch_alarm() {
  if (child_->alarm_fd() < 0) return;
  if (!alarm_watch_) alarm_watch_ = std::make_unique<Loop::Watch>(*loop_, child_->alarm_fd());
  alarm_watch_->when_readable(on_loop(&SupervisedProcess::on_alarm_ready));
}

void SupervisedProcess::on_alarm_ready() {
  if (state_ != State::running) return;
  on_alarm();
  watch_alarm();
  arm();
}

void SupervisedProcess::on_alarm() {
  constexpr Duration kSoon = std::chrono::milliseconds(2);
  Alarm alarm = child_->alarm();
  alarm_check_.reset();
  if (alarm.verdict) {
    stop(*alarm.verdict, Duration{0}, std::move(alarm.evidence));
  } else if (alarm.look_again && alarm_looks_ < kMostLooks) {
    ++alarm_looks_;
    alarm_check_ = now() + kSoon;
  } else {
    alarm_looks_ = 0;
  }
}

void SupervisedProcess::look() {
  Alarm alarm = child_->alarm();
  look_.reset();
  if (alarm.verdict) {
    stop(*alarm.verdict, Duration{0}, std::move(alarm.evidence));
  } else if (const auto period = child_->look_every()) {
    look_ = after(*period);
  }
}

void SupervisedProcess::finish_if_ended() {
  if (state_ != State::running) return;
  const auto ended = child_->reap();
  if (!ended) return;
  const Duration wall = since_start();
  pump_.finish(wall, drop_oldest());

  outcome::Ending e;
  e.id = id_;
  e.backend = shared_->backend->name();
  e.enforcement = child_->enforcement();
  e.first_action = ladder_.cause();
  // A short program may have ended before its last output was read: the limit holds all the same.
  if (!e.first_action && limits_.output_bytes && pump_.bytes() > *limits_.output_bytes) {
    e.first_action = Verdict::output;
  }
  e.evidence = evidence_;
  e.exit_code = ended->exit_code;
  e.signal = ended->signal;
  e.status_lost = ended->status_lost;
  e.wall = wall;
  e.usage = ended->usage;
  e.ended_by = ended->ended_by;
  e.kernel_evidence = ended->evidence;
  e.limits_hit = ended->limits_hit;
  e.denials = ended->denials;
  e.denials_omitted = ended->denials_omitted;
  e.launch = ended->launch;
  e.launch_note = ended->launch_note;
  if (request_.reuse && e.launch == Launch::cold && e.launch_note.empty()) {
    e.launch_note = "nothing is reused without a pool";
  }
  e.output_bytes = pump_.bytes();
  e.output_truncated = pump_.truncated();
  e.timeout = request_.timeout == Duration{0} ? kDefaultTimeout : request_.timeout;
  e.limits = limits_;
  end(std::make_shared<const Outcome>(outcome::decide(e)));
}

void SupervisedProcess::end(std::shared_ptr<const Outcome> outcome) {
  state_ = State::ended;
  ended_unsettled_ = true;
  outcome_ = std::move(outcome);
  pump_.queue().push_exit(outcome_->wall, outcome_);
  exit_watch_.reset();
  alarm_watch_.reset();
  for (auto& watch : output_watch_) watch.reset();
  stdin_watch_.reset();
  if (loop_ != nullptr) loop_->forget(this);
  changed_.notify_all();
  release_if_idle();
}

void SupervisedProcess::release_if_idle() {
  if (pollers_ > 0) return;
  pump_.close_ended();
  if (state_ != State::ended) return;
  child_.reset();
  stdin_.reset();
}

void SupervisedProcess::settle(Lock& lock) {
  std::function<void()> ready;
  if (ready_ && (!pump_.queue().empty() || state_ == State::ended)) {
    ready = std::exchange(ready_, nullptr);
  }
  const bool just_ended = std::exchange(ended_unsettled_, false);
  if (!ready && !just_ended) return;

  lock.unlock();
  if (just_ended) {
    // Waits for a callback that runs in another thread, which may want the lock.
    stop_callback_.reset();
    // Not the last reference: whoever called us holds one.
    shared_->table.release(id_).reset();
  }
  if (ready) ready();
  ready = nullptr;  // destroyed without the lock
  lock.lock();
}

}  // namespace cordon::supervise
