#include "mcp/bridge/child_link.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/printable.h"

namespace cordon::mcp {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kShown = 200;        // of a line that is no message
constexpr int kMostShown = 100;            // of such lines
constexpr int kAtATime = 64;               // events before others have their turn
constexpr std::size_t kMostInBatch = 100;  // only servers of 2025-03-26 send any
constexpr std::size_t kKept = std::size_t{1} << 16;
constexpr std::size_t kMostQueued = std::size_t{64} << 20;  // for a server that reads nothing
constexpr Duration kFirstPause = milliseconds(1);
constexpr Duration kLongestPause = milliseconds(20);

}  // namespace

ChildLink::ChildLink(std::shared_ptr<EventLoop> loop, ChildSettings settings)
    : loop_(std::move(loop)),
      settings_(std::move(settings)),
      retry_(loop_->timer()),
      ladder_(loop_->timer()) {}

ChildLink::~ChildLink() {
  if (events_) events_->notify({});
  if (process_ && state_ != State::over) {
    (void)process_->kill();
    if (settings_.ended) settings_.ended(process_);
  }
}

void ChildLink::start(Starter& starter) {
  state_ = State::starting;
  starter.add([loop = loop_, settings = settings_, weak = weak_from_this()] {
    if (weak.expired()) return;
    loop->post([weak, settings, made = launch(settings)]() mutable {
      if (const auto link = weak.lock()) return link->launched(std::move(made));
      if (made.started) (void)made.process->kill();  // nobody wants it any more
      if (made.process && settings.ended) settings.ended(made.process);
    });
  });
}

ChildLink::Launch ChildLink::launch(const ChildSettings& settings) {
  auto process = settings.make();
  if (!process) return {.process = nullptr, .started = std::unexpected(process.error())};
  Process& made = **process;
  const Framing lines{.mode = OutputMode::line,
                      .max_frame = static_cast<std::uint32_t>(settings.limits.json.max_bytes)};
  Result<void> started = made.set_stdin(Input::pipe());
  if (started) started = made.set_stdout(Output::events(lines));
  if (started) started = made.set_stderr(Output::events({.mode = OutputMode::line}));
  if (started) started = made.start();
  return {.process = *std::move(process), .started = std::move(started)};
}

void ChildLink::launched(Launch launch) {
  process_ = std::move(launch.process);
  if (!launch.started) {
    settings_.log("could not be started: " + launch.started.error().message);
    return finish("the server could not be started");
  }
  state_ = State::running;
  was_started_ = true;
  events_.emplace(process_->events());
  if (!held_) await_events();
  flush();
  if (ending_) {
    ending_ = false;
    end();
  }
}

void ChildLink::send(std::string_view text) {
  if (state_ == State::over || input_closed_) return;
  if (queued() > kMostQueued) {
    settings_.log("does not read what it has asked for, and is ended");
    return kill();
  }
  queue_ += one_line(text);
  queue_ += '\n';
  if (!waiting_to_write_) flush();
}

void ChildLink::flush() {
  if (state_ != State::running || input_closed_) return;
  waiting_to_write_ = false;
  if (queued() > 0) {
    const auto wrote =
        process_->write_stdin(std::string_view(queue_).substr(written_), Duration::zero());
    if (!wrote) {  // closed: what it says and its end come by its events
      input_closed_ = true;
      queue_.clear();
      written_ = 0;
      return;
    }
    written_ += *wrote;
    pause_ = *wrote > 0 ? kFirstPause : std::clamp(pause_ * 2, kFirstPause, kLongestPause);
  }
  if (queued() > 0) {
    if (written_ > kKept) {
      queue_.erase(0, written_);
      written_ = 0;
    }
    waiting_to_write_ = true;
    return retry_->start(pause_, [this] { flush(); });
  }
  written_ = 0;
  if (queue_.capacity() > kKept) {
    std::string().swap(queue_);
  } else {
    queue_.clear();
  }
  if (ending_) close_input();
}

void ChildLink::hold(bool held) {
  held_ = held;
  if (!held && state_ == State::running && !reading_) await_events();
}

void ChildLink::await_events() {
  reading_ = true;
  events_->notify([loop = loop_, weak = weak_from_this()] {
    loop->post([weak] {
      if (const auto link = weak.lock()) link->drain();
    });
  });
}

void ChildLink::look_or_await_events() {
  if (!loop_->look_at(weak_from_this())) await_events();
}

bool ChildLink::look() {
  if (state_ != State::running) return true;
  if (held_) {
    reading_ = false;
    return true;
  }
  auto event = events_->next_for(Duration::zero());
  if (!event) return false;
  take_or_finish(std::move(*event));
  drain();
  return true;
}

void ChildLink::rest() {
  if (state_ == State::running) await_events();
}

void ChildLink::take_or_finish(std::optional<Event> event) {
  if (!event) return finish("the server ended");
  take(*event);
}

void ChildLink::drain() {
  for (int i = 0; i < kAtATime; ++i) {
    if (state_ != State::running) return;
    if (held_) {
      reading_ = false;
      return;
    }
    auto event = events_->next_for(Duration::zero());
    if (!event) return look_or_await_events();
    take_or_finish(std::move(*event));
  }
  loop_->post([weak = weak_from_this()] {
    if (const auto link = weak.lock()) link->drain();
  });
}

void ChildLink::take(const Event& event) {
  if (event.kind == Event::Kind::exit) {
    std::string how = "the server ended";
    if (event.outcome) how += " (" + std::string(to_string(event.outcome->verdict)) + ")";
    return finish(std::move(how));
  }
  const std::string_view line = event.data.view();
  if (event.kind == Event::Kind::err) return settings_.log(line);
  if (event.partial) {
    if (!in_long_line_) refuse(line, "longer than a message may be");
    in_long_line_ = true;
    return;
  }
  if (in_long_line_) {
    in_long_line_ = false;  // this was its end
    return;
  }
  if (!line.empty()) take_line(line);
}

void ChildLink::take_line(std::string_view line) {
  MessageLimits limits = settings_.limits;
  limits.max_batch = kMostInBatch;
  // A carriage return is the end of a line to clients that read streams of events.
  auto parsed = line.contains('\r') ? parse(one_line(line), limits) : parse(line, limits);
  if (!parsed) return refuse(line, parsed.error().message);
  for (auto& message : parsed->messages) {
    if (!message) {
      refuse(line, message.error().message);
    } else if (owner_.message) {
      owner_.message(*std::move(message));
    }
  }
}

void ChildLink::refuse(std::string_view line, std::string_view why) {
  if (++refused_ > kMostShown) return;
  std::string text = "not a message, so no client gets it (";
  text += why;
  text += "): ";
  text += base::printable(line.substr(0, kShown));
  if (line.size() > kShown) text += "…";
  if (refused_ == kMostShown) text += " (further ones are not shown)";
  settings_.log(text);
}

void ChildLink::close_input() {
  if (input_closed_) return;
  input_closed_ = true;
  (void)process_->close_stdin();
}

void ChildLink::end() {
  if (ending_ || state_ == State::over) return;
  ending_ = true;
  if (state_ == State::idle) return finish("not started");
  if (state_ == State::starting) return;
  hold(false);  // a program that waits in its write() does not see the end of its input
  if (queued() == 0) close_input();
  ladder_->start(settings_.grace, [this] {
    close_input();
    if (state_ == State::running) (void)process_->terminate(settings_.grace);
  });
}

void ChildLink::kill() {
  ending_ = true;
  if (state_ == State::running) (void)process_->kill();
}

void ChildLink::finish(std::string reason) {
  if (state_ == State::over) return;
  const auto self = shared_from_this();
  state_ = State::over;
  reason_ = std::move(reason);
  retry_->stop();
  ladder_->stop();
  events_.reset();
  if (refused_ > kMostShown) {
    settings_.log(std::to_string(refused_ - kMostShown) + " more lines were no messages");
  }
  if (process_ && settings_.ended) settings_.ended(process_);
  process_.reset();
  const Owner owner = std::exchange(owner_, {});
  if (owner.ended) owner.ended();
  if (settings_.over) settings_.over(*this);
}

}  // namespace cordon::mcp
