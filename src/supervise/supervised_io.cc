// SupervisedProcess: output, stdin and the waiting they need.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/errors.h"
#include "base/write.h"
#include "supervise/stdio.h"
#include "supervise/supervised_process.h"

namespace cordon::supervise {

using base::fail;

void SupervisedProcess::poll(Lock& lock, std::span<Wanted> wanted, TimePoint until) {
  std::array<pollfd, 4> fds{};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    fds[i] = {.fd = wanted[i].fd, .events = wanted[i].events, .revents = 0};
  }
  ++pollers_;
  lock.unlock();
  timespec left{};
  const timespec* patience = nullptr;
  if (until != TimePoint::max()) {
    const Duration d = std::max(Duration{0}, until - real_clock().now());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(d);
    left = {.tv_sec = seconds.count(), .tv_nsec = (d - seconds).count()};
    patience = &left;
  }
  const int ready = ::ppoll(fds.data(), wanted.size(), patience, nullptr);
  lock.lock();
  --pollers_;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    wanted[i].ready = ready > 0 && fds[i].revents != 0;
  }
  release_if_idle();
}

// --- output ---

void SupervisedProcess::attach() {
  const Lock lock(mutex_);
  ++attached_;
}

void SupervisedProcess::detach(std::vector<Event> unread) {
  std::function<void()> withdrawn;  // somebody else's code: destroyed without the lock
  Lock lock(mutex_);
  if (!unread.empty()) pump_.queue().give_back(std::move(unread));
  withdrawn = std::exchange(ready_, nullptr);
  if (--attached_ == 0 && state_ == State::running) {
    // Nobody reads any more: the loop does, so that the program is not held up.
    pulling_ = false;
    watch_outputs();
  }
}

bool SupervisedProcess::drop_oldest() const {
  return request_.overflow == Overflow::drop_oldest ||
         (request_.overflow == Overflow::hold && attached_ == 0);
}

void SupervisedProcess::watch_outputs() {
  for (std::size_t stream = 0; stream < OutputPump::kStreams; ++stream) watch_output(stream);
}

void SupervisedProcess::watch_output(std::size_t stream) {
  if (state_ != State::running || pulling_ || output_pending_[stream] || pump_.fd(stream) < 0) {
    return;
  }
  auto& watch = output_watch_[stream];
  if (!watch) watch = std::make_unique<Loop::Watch>(*loop_, pump_.fd(stream));
  output_pending_[stream] = true;
  watch->when_readable(on_loop(stream == 0 ? &SupervisedProcess::on_stdout_ready
                                           : &SupervisedProcess::on_stderr_ready));
}

void SupervisedProcess::on_output_ready(std::size_t stream) {
  output_pending_[stream] = false;
  if (state_ != State::running || pulling_) return;
  read_stream(stream);
}

// Reads, and sees to it that the rest is read when there is more or room again.
void SupervisedProcess::read_stream(std::size_t stream) {
  switch (pump_.fill(stream, since_start(), drop_oldest())) {
    case OutputPump::Filled::waiting:
      watch_output(stream);
      break;
    case OutputPump::Filled::full:
      // `hold`: take() or detach() goes on.
      if (request_.overflow == Overflow::end_run) {
        stop(Verdict::output, Duration{0}, "the event buffer was full");
      }
      break;
    case OutputPump::Filled::ended:
      output_watch_[stream].reset();
      break;
    case OutputPump::Filled::over_limit:
      stop(Verdict::output, Duration{0});
      break;
  }
  if (pump_.ended(stream)) output_watch_[stream].reset();
  if (!pump_.queue().empty()) changed_.notify_all();
  release_if_idle();
}

// There is room again. What was read before comes first: the pipe may have nothing more to say.
void SupervisedProcess::go_on_reading() {
  for (std::size_t stream = 0; stream < OutputPump::kStreams; ++stream) {
    if (pump_.pending(stream)) {
      read_stream(stream);
    } else {
      watch_output(stream);
    }
  }
}

Result<void> SupervisedProcess::take(std::vector<Event>& batch, Duration patience) {
  Lock lock(mutex_);
  if (state_ == State::created) {
    return fail(ErrorCode::wrong_state, "events",
                request_.program + " has not been started: it has no events yet");
  }
  const TimePoint until = after(patience);
  while (pump_.queue().empty() && !(state_ == State::ended)) {
    if (until != TimePoint::max() && real_clock().now() >= until && patience > Duration{0}) {
      return fail(ErrorCode::timed_out, "events", request_.program + " has written nothing new");
    }
    if (state_ == State::running && request_.overflow == Overflow::hold) {
      go_on_reading();
      if (pump_.queue().empty()) pull(lock, until);
    } else if (until == TimePoint::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, until);
    }
    if (patience <= Duration{0} && pump_.queue().empty() && state_ != State::ended) {
      return fail(ErrorCode::timed_out, "events", request_.program + " has written nothing new");
    }
  }
  pump_.queue().take(batch);
  if (!pulling_) go_on_reading();
  settle(lock);
  return {};
}

// The reader's own thread reads the pipes: no other thread has to be woken for each block.
void SupervisedProcess::pull(Lock& lock, TimePoint until) {
  pulling_ = true;
  for (std::size_t stream = 0; stream < OutputPump::kStreams; ++stream) {
    output_watch_[stream].reset();
    output_pending_[stream] = false;
  }
  std::array wanted{Wanted{pump_.fd(0), POLLIN, false}, Wanted{pump_.fd(1), POLLIN, false},
                    Wanted{child_->exit_fd(), POLLIN, false}};
  poll(lock, wanted, until);
  if (state_ != State::running) return;
  for (std::size_t stream = 0; stream < OutputPump::kStreams; ++stream) {
    if (wanted[stream].ready) read_stream(stream);
  }
  if (wanted[2].ready) finish_if_ended();
}

void SupervisedProcess::notify(std::function<void()> ready) {
  std::function<void()> replaced;  // destroyed without the lock
  Lock lock(mutex_);
  replaced = std::exchange(ready_, std::move(ready));
  if (!ready_) return;
  if (state_ == State::created) {  // take() would not wait: it would fail
    ready = std::exchange(ready_, nullptr);
    lock.unlock();
    ready();
    return;
  }
  pulling_ = false;
  watch_outputs();
  settle(lock);
}

std::function<void()> SupervisedProcess::on_loop(void (SupervisedProcess::*step)()) {
  return [self = weak_from_this(), step] {
    const auto process = self.lock();
    if (!process) return;
    Lock lock(process->mutex_);
    (process.get()->*step)();
    process->settle(lock);
  };
}

// --- stdin ---

// Input::bytes: as much as the pipe takes now, the rest when there is room.
void SupervisedProcess::feed_stdin() {
  const std::string_view all = request_.in.data;
  while (stdin_sent_ < all.size()) {
    const ssize_t n = base::write_without_sigpipe(stdin_.get(), all.substr(stdin_sent_));
    if (n < 0 && errno == EAGAIN) {
      if (!stdin_watch_) stdin_watch_ = std::make_unique<Loop::Watch>(*loop_, stdin_.get());
      stdin_watch_->when_writable(on_loop(&SupervisedProcess::on_stdin_ready));
      return;
    }
    if (n < 0) break;  // the program does not want the rest
    stdin_sent_ += static_cast<std::size_t>(n);
  }
  stdin_watch_.reset();
  stdin_.reset();
  request_.in.data = {};
  stdin_sent_ = 0;
}

void SupervisedProcess::on_stdin_ready() {
  if (state_ == State::running && stdin_) feed_stdin();
}

Result<std::size_t> SupervisedProcess::write_stdin(std::string_view data, Duration patience) {
  Lock lock(mutex_);
  if (request_.in.kind != Input::Kind::pipe) {
    return fail(ErrorCode::wrong_state, "write_stdin",
                "the stdin of " + request_.program + " is not a pipe: request Input::pipe()");
  }
  if (state_ == State::created) return std::unexpected(must_run("write_stdin").error());
  const TimePoint until = after(patience);

  // One writer at a time, so that two messages are never mixed.
  const auto free = [&] { return !stdin_busy_; };
  if (until == TimePoint::max()) {
    changed_.wait(lock, free);
  } else if (!changed_.wait_until(lock, until, free)) {
    return 0;
  }

  stdin_busy_ = true;
  std::size_t written = 0;
  bool broken = false;
  while (written < data.size()) {
    if (state_ != State::running || !stdin_) {
      broken = true;
      break;
    }
    const ssize_t n = base::write_without_sigpipe(stdin_.get(), data.substr(written));
    if (n >= 0) {
      written += static_cast<std::size_t>(n);
      continue;
    }
    if (errno != EAGAIN) {
      broken = true;
      break;
    }
    if (until != TimePoint::max() && real_clock().now() >= until) break;
    std::array wanted{Wanted{stdin_.get(), POLLOUT, false},
                      Wanted{child_->exit_fd(), POLLIN, false}};
    poll(lock, wanted, until);
    if (wanted[1].ready) finish_if_ended();
  }
  stdin_busy_ = false;
  if (stdin_close_ || broken) stdin_.reset();
  changed_.notify_all();
  settle(lock);
  if (broken) {
    return fail(ErrorCode::closed, "write_stdin",
                request_.program + " no longer reads its stdin: " + std::to_string(written) +
                    " of " + std::to_string(data.size()) + " bytes were written");
  }
  return written;
}

Result<void> SupervisedProcess::close_stdin() {
  Lock lock(mutex_);
  if (request_.in.kind != Input::Kind::pipe) {
    return fail(ErrorCode::wrong_state, "close_stdin",
                "the stdin of " + request_.program + " is not a pipe: request Input::pipe()");
  }
  if (state_ == State::created) return must_run("close_stdin");
  if (!stdin_) return {};
  if (request_.terminal) {
    // A terminal has no end; its end-of-file character has the same effect at the start of a line.
    termios settings{};
    const char eof =
        ::tcgetattr(stdin_.get(), &settings) == 0 ? static_cast<char>(settings.c_cc[VEOF]) : '\x04';
    (void)base::write_without_sigpipe(stdin_.get(), {&eof, 1});
    return {};
  }
  if (stdin_busy_) {
    stdin_close_ = true;  // by the writer, when it is done
  } else {
    stdin_.reset();
  }
  return {};
}

Result<void> SupervisedProcess::resize_terminal(TerminalSize size) {
  const Lock lock(mutex_);
  if (!request_.terminal) {
    return fail(ErrorCode::wrong_state, "resize_terminal",
                request_.program + " has no terminal: set Request::terminal");
  }
  if (auto ok = must_run("resize_terminal"); !ok) return ok;
  return resize(stdin_.get(), size);
}

}  // namespace cordon::supervise
