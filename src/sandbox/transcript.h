// Transcript: what a process wrote, kept for those who come later.
//
// A process hands each event to one reader; a transcript takes them all and lets any number of
// readers have them again, each from the beginning of what is kept or from a sequence number. It
// keeps the newest `limit` bytes; what was before them is gone and counted. The end, with the
// outcome, is always kept, and the last thing every reader gets.
//
//   auto transcript = std::make_shared<Transcript>(1024 * 1024);
//   std::jthread feeder([=, events = process->events()]() mutable { transcript->feed(events); });
//   auto reader = transcript->read({});
//   while (auto entry = reader.next()) …
//
// A reader may hold: then nothing is dropped that it has not had; feed() waits instead, and with it
// the process, as its request says (Request::overflow). Holding ends with the reader.
//
// Thread-safe; a Reader is for one thread at a time, and may outlive the transcript.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "cordon/events.h"

namespace cordon::sandbox {

class Transcript {
 public:
  struct Entry {
    Event event;
    std::uint64_t offset = 0;  // bytes of output before this event, kept or not
    std::uint64_t missed = 0;  // of those, how many were lost since this reader's last entry
  };

  // Where a reader begins. Who comes back gives the sequence number after the last one he had, and
  // the bytes of output up to there, so that `missed` is exact; the defaults are the beginning.
  struct From {
    std::uint64_t sequence = 0;
    std::uint64_t offset = 0;
  };

  class Reader {
   public:
    ~Reader();
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;

    // The next entry; nothing after the end.
    [[nodiscard]] std::optional<Entry> next();
    // The same, waiting at most `patience`: then the error is timed_out.
    [[nodiscard]] Result<std::optional<Entry>> next_for(Duration patience);
    // Calls `ready` once, when next() would not wait: at once, from this call, if that is so now,
    // else from the thread that feeds. A second call replaces the first; an empty function
    // withdraws it, and has waited for one that is being called when it returns (as the reader's
    // end has), unless it is called from there.
    void notify(std::function<void()> ready);
    // Where to come back to: after the last entry that was handed out.
    [[nodiscard]] From position() const;

   private:
    friend class Transcript;
    struct State;
    explicit Reader(std::shared_ptr<State> state);
    std::shared_ptr<State> state_;
  };

  // An event costs its bytes and some more, so that many small ones are bounded, too.
  static constexpr std::size_t kEventCost = 64;

  explicit Transcript(std::size_t limit);
  ~Transcript();
  Transcript(const Transcript&) = delete;
  Transcript& operator=(const Transcript&) = delete;

  // Takes all events to the end. A source that ends without an exit event ends the transcript.
  void feed(EventStream& events);
  // The same, one by one, in order; for one thread at a time.
  void append(Event event);
  // There will be no more. Any number of times.
  void close();

  [[nodiscard]] Reader read(From from, bool hold = false);

  [[nodiscard]] bool ended() const;
  // Null: it has not ended, or nobody knows how.
  [[nodiscard]] std::shared_ptr<const Outcome> outcome() const;
  [[nodiscard]] std::uint64_t written() const;  // bytes of output so far
  [[nodiscard]] std::uint64_t dropped() const;  // of those, not kept

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace cordon::sandbox
