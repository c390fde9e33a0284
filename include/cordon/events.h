// Events: the one way to get a process's output (C84).
//
// One stream a process: stdout, stderr and, last, exit; numbered in the order they were read. Any
// number of EventStream objects may be attached to a process; each event goes to exactly one of
// them. An EventStream is for one thread at a time; different ones may be used from different
// threads. Events are values: keep them as long as you like.
//
// While a stream is attached, output beyond the request's `event_buffer` is treated as the request
// says (`Overflow`). While none is attached nobody reads, so a full buffer drops its oldest events
// rather than block the program for ever: wait() always returns. Destroying a stream detaches it
// and puts what it had not yet handed out back.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/outcome.h"

namespace cordon {

// Immutable bytes; copies share them.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(std::string_view copied);
  // `view` points into what `owner` keeps alive.
  Bytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), view_(view) {}

  [[nodiscard]] std::string_view view() const { return view_; }
  [[nodiscard]] std::size_t size() const { return view_.size(); }
  [[nodiscard]] bool empty() const { return view_.empty(); }
  [[nodiscard]] std::string str() const { return std::string(view_); }
  // Part of these bytes, sharing their memory; cut off where they end.
  [[nodiscard]] Bytes slice(std::size_t offset, std::size_t length = std::string_view::npos) const {
    return {owner_, view_.substr(offset < size() ? offset : size(), length)};
  }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

struct Event {
  enum class Kind : std::uint8_t { out, err, exit };
  Kind kind = Kind::out;
  bool partial = false;        // line mode: more of the same line follows
  bool invalid = false;        // json mode: not a JSON value
  std::uint64_t sequence = 0;  // 0, 1, 2 … within the process; a gap means dropped events
  Duration at{0};              // since the process started
  std::uint64_t dropped = 0;   // bytes of output dropped so far
  Bytes data;                  // out, err
  std::shared_ptr<const Outcome> outcome;  // exit
};
[[nodiscard]] std::string_view to_string(Event::Kind kind);

// What a backend implements behind an EventStream. Thread-safe.
class EventSource {
 public:
  virtual ~EventSource() = default;
  virtual void attach() = 0;
  // `unread` goes back to the front.
  virtual void detach(std::vector<Event> unread) = 0;
  // Moves all events at hand into the empty `batch`, waiting up to `patience` for the first. Leaves
  // it empty at the end of the stream. Error: timed_out; wrong_state when the process has not been
  // started.
  [[nodiscard]] virtual Result<void> take(std::vector<Event>& batch, Duration patience) = 0;
  // Calls `ready` once, when take() would not wait; at once, from this call, if that is so now. A
  // second call replaces the first; an empty function withdraws it.
  virtual void notify(std::function<void()> ready) = 0;
};

class EventStream {
 public:
  explicit EventStream(std::shared_ptr<EventSource> source);
  ~EventStream();
  EventStream(EventStream&&) noexcept = default;
  EventStream& operator=(EventStream&& other) noexcept;

  // The next event; nothing after the exit event (or when the process was never started).
  [[nodiscard]] std::optional<Event> next() {
    if (next_ == batch_.size() && !refill()) return std::nullopt;
    return std::move(batch_[next_++]);
  }
  // The same, waiting at most `patience`: then the error is timed_out.
  [[nodiscard]] Result<std::optional<Event>> next_for(Duration patience);
  // Never waits inside next() after `ready` has been called. For event loops; see asio.h.
  void notify(std::function<void()> ready);

  // for (const cordon::Event& event : process->events()) …
  class Iterator {
   public:
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(EventStream* stream) : stream_(stream), event_(stream->next()) {}
    const Event& operator*() const { return *event_; }
    const Event* operator->() const { return &*event_; }
    Iterator& operator++() {
      event_ = stream_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return !it.event_; }

   private:
    EventStream* stream_ = nullptr;
    std::optional<Event> event_;
  };
  [[nodiscard]] Iterator begin() { return Iterator(this); }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

 private:
  [[nodiscard]] bool refill();  // false: there are no more
  void detach();

  std::shared_ptr<EventSource> source_;
  std::vector<Event> batch_;  // taken from the source, not yet handed out
  std::size_t next_ = 0;
};

}  // namespace cordon
