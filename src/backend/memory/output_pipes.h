// Simulated stdout and stderr: two pipes of 64 KiB, and the supervisor's end that frames and queues
// what it reads from them, as supervise::OutputPump does with real pipes.
//
// Not thread-safe: the simulation locks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/memory/step.h"
#include "base/fd.h"
#include "cordon/request.h"
#include "supervise/event_queue.h"
#include "supervise/framing/framer.h"

namespace cordon::memory {

class OutputPipes {
 public:
  static constexpr std::size_t kPipe = 64 * 1024;

  struct Target {
    Output::Kind kind = Output::Kind::discard;
    std::shared_ptr<const base::Fd> real{};  // inherit, descriptor; shared with who is writing
    Framing framing{};
  };
  // What the supervisor should do about the output it has just read.
  enum class Alarm : std::uint8_t { none, over_limit, overflow };

  void open(std::size_t capacity, Overflow overflow, std::optional<std::uint64_t> limit, Target out,
            Target err);

  // A terminal: stderr goes the way of stdout.
  void join_streams() { joined_ = true; }

  [[nodiscard]] const Target& target(Stream stream) const { return line(actual(stream)).target; }

  // For a stream that goes to events: puts as much of `bytes` into the pipe as fits and lets the
  // supervisor read. Returns how much was taken; `owner` keeps the bytes alive.
  std::size_t write(Stream stream, const std::shared_ptr<const std::string>& owner,
                    std::string_view bytes, Duration at, Alarm& alarm);
  // The supervisor reads what it may. True: there is new room in a pipe.
  bool pump(Duration at, Alarm& alarm);
  // The program has ended: reads all that is left, whatever the queue's size.
  void finish(Duration at);

  void attach() { ++readers_; }
  void detach() { --readers_; }

  // Made when first asked for.
  [[nodiscard]] supervise::EventQueue& queue();
  [[nodiscard]] bool has_events() const { return queue_ && !queue_->empty(); }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] bool truncated() const { return cut_ || (queue_ && queue_->dropped_bytes() > 0); }

 private:
  struct Chunk {
    std::shared_ptr<const std::string> owner;
    std::string_view view;
  };
  struct Line {
    Target target;
    std::unique_ptr<supervise::Framer> framer;  // made with the first byte
    std::vector<Chunk> pipe;                    // from `head` on
    std::size_t head = 0;
    std::size_t in_pipe = 0;  // bytes
  };

  [[nodiscard]] const Line& line(Stream s) const { return lines_[static_cast<std::size_t>(s)]; }
  [[nodiscard]] Line& line(Stream s) { return lines_[static_cast<std::size_t>(s)]; }
  [[nodiscard]] Stream actual(Stream stream) const { return joined_ ? Stream::out : stream; }
  [[nodiscard]] bool holds() const { return readers_ > 0 && overflow_ == Overflow::hold; }
  void read(Stream stream, Duration at, bool whatever_size, Alarm& alarm);
  // Frames a part of `chunk` and queues the frames; returns how many bytes that were.
  std::size_t frame(Stream stream, const Chunk& chunk, Duration at, Alarm& alarm);
  // The same for all that the limit still allows.
  void frame_last(Stream stream, Chunk chunk, Duration at, Alarm& alarm);
  void push(Stream stream, Duration at, Alarm& alarm);

  std::array<Line, 2> lines_;
  std::size_t capacity_ = 0;
  Overflow overflow_ = Overflow::hold;
  std::optional<std::uint64_t> limit_;
  std::optional<supervise::EventQueue> queue_;
  std::vector<Event> frames_;  // between framer and queue
  std::uint64_t bytes_ = 0;
  bool cut_ = false;
  int readers_ = 0;
  bool joined_ = false;
};

}  // namespace cordon::memory
