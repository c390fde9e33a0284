#include "backend/memory/output_pipes.h"

#include <algorithm>
#include <utility>

namespace cordon::memory {
namespace {

// Between two looks at the queue's size: tiny frames must not outgrow it by much.
constexpr std::size_t kFramesAtOnce = 256;

Event::Kind kind_of(Stream stream) {
  return stream == Stream::out ? Event::Kind::out : Event::Kind::err;
}

}  // namespace

void OutputPipes::open(std::size_t capacity, Overflow overflow, std::optional<std::uint64_t> limit,
                       Target out, Target err) {
  capacity_ = capacity;
  overflow_ = overflow;
  limit_ = limit;
  line(Stream::out).target = std::move(out);
  line(Stream::err).target = std::move(err);
}

supervise::EventQueue& OutputPipes::queue() {
  if (!queue_) queue_.emplace(capacity_);
  return *queue_;
}

std::size_t OutputPipes::write(Stream stream, const std::shared_ptr<const std::string>& owner,
                               std::string_view bytes, Duration at, Alarm& alarm) {
  stream = actual(stream);
  Line& to = line(stream);
  std::size_t taken = 0;
  while (taken < bytes.size() && to.in_pipe < kPipe) {
    const auto part = bytes.substr(taken, kPipe - to.in_pipe);
    to.pipe.push_back({owner, part});
    to.in_pipe += part.size();
    taken += part.size();
    read(stream, at, false, alarm);
  }
  return taken;
}

void OutputPipes::read(Stream stream, Duration at, bool whatever_size, Alarm& alarm) {
  Line& from = line(stream);
  while (from.head < from.pipe.size()) {
    if (!whatever_size && holds() && queue().full()) return;
    Chunk& chunk = from.pipe[from.head];
    const std::uint64_t allowed = limit_ ? *limit_ - std::min(*limit_, bytes_) : chunk.view.size();
    std::size_t taken = chunk.view.size();
    if (taken > allowed) {
      alarm = Alarm::over_limit;
      cut_ = true;
      frame_last(stream, {chunk.owner, chunk.view.substr(0, allowed)}, at, alarm);
    } else {
      taken = frame(stream, chunk, at, alarm);
    }
    bytes_ += taken;
    from.in_pipe -= taken;
    chunk.view.remove_prefix(taken);
    if (chunk.view.empty()) from.pipe[from.head++] = {};
  }
  from.pipe.clear();
  from.head = 0;
}

std::size_t OutputPipes::frame(Stream stream, const Chunk& chunk, Duration at, Alarm& alarm) {
  auto& framer = line(stream).framer;
  if (!framer) framer = supervise::make_framer(line(stream).target.framing);
  const std::size_t consumed = framer->feed(Bytes(chunk.owner, chunk.view), kFramesAtOnce, frames_);
  push(stream, at, alarm);
  return consumed;
}

void OutputPipes::frame_last(Stream stream, Chunk chunk, Duration at, Alarm& alarm) {
  while (!chunk.view.empty()) chunk.view.remove_prefix(frame(stream, chunk, at, alarm));
}

void OutputPipes::push(Stream stream, Duration at, Alarm& alarm) {
  if (frames_.empty()) return;
  queue().push(kind_of(stream), at, frames_);
  if (!queue().full()) return;
  if (overflow_ == Overflow::end_run) {
    if (alarm == Alarm::none) alarm = Alarm::overflow;
  } else if (!holds()) {
    queue().drop_to_fit();
  }
}

bool OutputPipes::pump(Duration at, Alarm& alarm) {
  bool room = false;
  for (const Stream stream : {Stream::out, Stream::err}) {
    const std::size_t before = line(stream).in_pipe;
    read(stream, at, false, alarm);
    room = room || line(stream).in_pipe < before;
  }
  return room;
}

void OutputPipes::finish(Duration at) {
  Alarm ignored = Alarm::none;
  for (const Stream stream : {Stream::out, Stream::err}) {
    read(stream, at, true, ignored);
    Line& ended = line(stream);
    if (ended.framer) {
      ended.framer->finish(frames_);
      push(stream, at, ignored);
      ended.framer.reset();
    }
    ended.target.real.reset();
  }
}

}  // namespace cordon::memory
