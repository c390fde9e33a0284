// MemoryProcess: output, stdin and terminal.
#include <utility>

#include "backend/memory/memory_process.h"
#include "backend/memory/real_fd.h"
#include "base/errors.h"

namespace cordon::memory {

using base::fail;

namespace {

Result<OutputPipes::Target> open_target(const Output& output, int standard_fd,
                                        std::string_view name) {
  OutputPipes::Target target{.kind = output.kind, .framing = output.framing};
  const bool inherit = output.kind == Output::Kind::inherit;
  if (inherit || output.kind == Output::Kind::descriptor) {
    auto real = borrow(inherit ? standard_fd : output.fd, name, inherit);
    if (!real) return std::unexpected(std::move(real.error()));
    target.real = std::move(*real);
  }
  return target;
}

}  // namespace

Result<void> MemoryProcess::open_streams() {
  const bool inherit = request_.in.kind == Input::Kind::inherit;
  if (inherit || request_.in.kind == Input::Kind::descriptor) {
    auto real = borrow(inherit ? 0 : request_.in.fd, "stdin", inherit);
    if (!real) return std::unexpected(std::move(real.error()));
    tree_.input().open(request_.in, std::move(*real));
  } else {
    tree_.input().open(request_.in, nullptr);
  }
  auto out = open_target(request_.out, 1, "stdout");
  if (!out) return std::unexpected(std::move(out.error()));
  auto err = open_target(request_.err, 2, "stderr");
  if (!err) return std::unexpected(std::move(err.error()));
  tree_.output().open(request_.event_buffer, request_.overflow, limits_.output_bytes,
                      std::move(*out), std::move(*err));
  if (request_.terminal) tree_.output().join_streams();
  return {};
}

// --- Events.

bool MemoryProcess::has_news() const { return tree_.output().has_events(); }

void MemoryProcess::on_events(Lock& lock) {
  // Without a reader or output the queue is not made before somebody asks for it.
  if (outcome_ && !exit_queued_ && (readers_ > 0 || tree_.output().has_events())) queue_exit();
  if (ready_ && (has_news() || state_ == State::ended)) tell(lock);
  simulation().changed();
}

void MemoryProcess::queue_exit() {
  exit_queued_ = true;
  tree_.output().queue().push_exit(outcome_->wall, outcome_);
}

void MemoryProcess::attach() {
  const Lock lock(simulation());
  ++readers_;
  tree_.output().attach();
  if (outcome_ && !exit_queued_) queue_exit();
}

void MemoryProcess::detach(std::vector<Event> unread) {
  Lock lock(simulation());
  if (!unread.empty()) tree_.output().queue().give_back(std::move(unread));
  withdraw_notify(lock);
  --readers_;
  tree_.output().detach();
  tree_.pump_output(lock);
  simulation().drive_for_listeners(lock);  // an event loop has done with this process
}

Result<void> MemoryProcess::take(std::vector<Event>& batch, Duration patience) {
  Lock lock(simulation());
  heard();
  if (state_ == State::created) {
    return fail(ErrorCode::wrong_state, "events",
                request_.program + " has not been started: it has no events yet");
  }
  const auto done = [this] { return has_news() || state_ == State::ended; };
  if (!simulation().wait(lock, simulation().after(patience), done)) {
    return fail(ErrorCode::timed_out, "events", request_.program + " has written nothing new");
  }
  tree_.output().queue().take(batch);
  tree_.pump_output(lock);                                    // there is room again
  if (batch.empty()) simulation().drive_for_listeners(lock);  // as in detach()
  return {};
}

void MemoryProcess::notify(std::function<void()> ready) {
  Lock lock(simulation());
  withdraw_notify(lock);
  if (!ready) return;
  ready_ = std::move(ready);
  ++simulation().listeners;
  if (state_ == State::created || has_news() || state_ == State::ended) {
    tell(lock);
  } else {
    simulation().drive_for_listeners(lock);
  }
}

void MemoryProcess::tell(Lock& lock) {
  lock.call_later(std::exchange(ready_, nullptr));
  --simulation().listeners;
  told_ = true;
  ++simulation().told;
}

void MemoryProcess::heard() {
  if (std::exchange(told_, false)) --simulation().told;
}

void MemoryProcess::withdraw_notify(Lock& lock) {
  heard();
  if (!ready_) return;
  --simulation().listeners;
  lock.call_later([dropped = std::exchange(ready_, nullptr)] {});  // destroyed without the lock
}

// --- Stdin.

Result<void> MemoryProcess::must_have_stdin(std::string_view operation) const {
  if (request_.in.kind != Input::Kind::pipe) {
    return fail(ErrorCode::wrong_state, operation,
                "the stdin of " + request_.program + " is not a pipe: request Input::pipe()");
  }
  if (state_ == State::created) return must_run(operation);
  return {};
}

Result<std::size_t> MemoryProcess::write_stdin(std::string_view data, Duration patience) {
  Lock lock(simulation());
  if (auto ok = must_have_stdin("write_stdin"); !ok) return std::unexpected(std::move(ok.error()));
  StdinPipe& in = tree_.input();
  const TimePoint until = simulation().after(patience);

  // One writer at a time, so that two messages are never mixed.
  if (!simulation().wait(lock, until, [this] { return !writing_; })) return 0;
  writing_ = true;
  simulation().settle(lock);
  std::size_t written = 0;
  while (written < data.size() && in.open_for_writing()) {
    const std::size_t taken = in.write(data.substr(written));
    written += taken;
    if (taken > 0) tree_.wake(WaitingFor::input);
    if (written == data.size()) break;
    const auto done = [&in] { return in.room() > 0 || !in.open_for_writing(); };
    if (!simulation().wait(lock, until, done)) break;
  }
  const bool closed = !in.open_for_writing();
  writing_ = false;
  if (std::exchange(close_after_writing_, false)) close_writer();
  simulation().changed();
  if (closed && written < data.size()) {
    return fail(ErrorCode::closed, "write_stdin",
                request_.program + " no longer reads its stdin: " + std::to_string(written) +
                    " of " + std::to_string(data.size()) + " bytes were written");
  }
  return written;
}

Result<void> MemoryProcess::close_stdin() {
  Lock lock(simulation());
  simulation().settle(lock);
  if (auto ok = must_have_stdin("close_stdin"); !ok) return ok;
  if (writing_) {
    close_after_writing_ = true;
  } else {
    close_writer();
  }
  return {};
}

void MemoryProcess::close_writer() {
  tree_.input().close_writer();
  tree_.wake(WaitingFor::input);
}

Result<void> MemoryProcess::resize_terminal(TerminalSize size) {
  Lock lock(simulation());
  simulation().settle(lock);
  if (!request_.terminal) {
    return fail(ErrorCode::wrong_state, "resize_terminal",
                request_.program + " has no terminal: set Request::terminal");
  }
  if (auto ok = must_run("resize_terminal"); !ok) return ok;
  terminal_ = size;
  tree_.signal(lock, SIGWINCH, Reach::tree);
  return {};
}

}  // namespace cordon::memory
