// Reads a process's stdout and stderr, frames them and queues the events.
//
// Knows bytes and limits, not threads: its owner locks and decides when to call fill(). Memory is
// bounded by the queue's capacity, one block a stream and one unfinished frame a stream, except at
// the very end, when what is left in the pipes is taken too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "cordon/request.h"
#include "supervise/event_queue.h"
#include "supervise/framing/framer.h"

namespace cordon::supervise {

class OutputPump {
 public:
  static constexpr std::size_t kStreams = 2;  // 0: stdout, 1: stderr

  explicit OutputPump(std::size_t capacity) : queue_(capacity) {}

  void set_limit(std::optional<std::uint64_t> bytes) { limit_ = bytes; }

  // `fd` must be non-blocking.
  void open(std::size_t stream, base::Fd fd, const Framing& framing);

  enum class Filled : std::uint8_t {
    waiting,     // nothing more to read for now
    full,        // the queue is full; there may be more
    ended,       // end of file
    over_limit,  // the output limit was passed; what is beyond it is dropped
  };
  // Reads until there is nothing left, the queue is full or `most` bytes were read. With
  // `drop_oldest` the queue is never full.
  [[nodiscard]] Filled fill(std::size_t stream, Duration at, bool drop_oldest);
  // The program has ended: takes what is in the pipes now, whatever the queue's size, and no more,
  // so that a survivor that holds the pipe cannot keep us. Closes both streams.
  void finish(Duration at, bool drop_oldest);

  // -1 when the stream is not open or has ended.
  [[nodiscard]] int fd(std::size_t stream) const;
  [[nodiscard]] bool ended(std::size_t stream) const { return !streams_[stream].live; }
  // Something was read that did not fit the queue: fill() goes on with it, whatever the fd says.
  [[nodiscard]] bool pending(std::size_t stream) const { return !streams_[stream].pending.empty(); }
  // Closes what has ended. Separate from fill(), since another thread may be polling the fd.
  void close_ended();

  [[nodiscard]] EventQueue& queue() { return queue_; }
  [[nodiscard]] const EventQueue& queue() const { return queue_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool truncated() const { return cut_ || queue_.dropped_bytes() > 0; }

 private:
  struct Stream {
    base::Fd fd;
    bool live = false;
    bool grown = false;  // the pipe was found full and made larger
    bool busy = false;   // the last read found much
    std::unique_ptr<Framer> framer;
    Bytes pending;  // read, not yet framed: the queue was full
  };
  enum class Read : std::uint8_t {
    data,  // as much as was asked for: there may be more
    rest,  // all there was
    nothing,
    end,
    over,
  };

  [[nodiscard]] Read read_block(Stream& stream, std::size_t most);
  void frame_pending(std::size_t stream, Duration at, bool drop_oldest, bool whatever_size);
  void end(std::size_t stream, Duration at, bool drop_oldest);
  [[nodiscard]] std::shared_ptr<char[]> block();

  std::array<Stream, kStreams> streams_;
  EventQueue queue_;
  std::array<std::shared_ptr<char[]>, 2> blocks_;  // reused once no event refers to them
  std::optional<std::uint64_t> limit_;
  std::uint64_t bytes_ = 0;
  bool cut_ = false;
};

}  // namespace cordon::supervise
