#include "supervise/output_pump.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace cordon::supervise {
namespace {

constexpr std::size_t kBlock = 128 * 1024;
constexpr std::size_t kSmall = 16 * 1024;
constexpr int kGrownPipe = 1024 * 1024;
constexpr std::size_t kDefaultPipe = 64 * 1024;
constexpr std::size_t kFramesAtOnce = 512;
constexpr std::size_t kInFlight = 128 * 1024;  // more than a terminal holds

std::size_t readable_bytes(int fd) {
  int count = 0;
  if (::ioctl(fd, FIONREAD, &count) != 0 || count < 0) return 0;
  return static_cast<std::size_t>(count);
}

Event::Kind kind_of(std::size_t stream) {
  return stream == 0 ? Event::Kind::out : Event::Kind::err;
}

}  // namespace

void OutputPump::open(std::size_t stream, base::Fd fd, const Framing& framing) {
  streams_[stream].fd = std::move(fd);
  streams_[stream].live = true;
  streams_[stream].framer = make_framer(framing);
}

int OutputPump::fd(std::size_t stream) const {
  return streams_[stream].live ? streams_[stream].fd.get() : -1;
}

void OutputPump::close_ended() {
  for (Stream& stream : streams_) {
    if (!stream.live) stream.fd.reset();
  }
}

std::shared_ptr<char[]> OutputPump::block() {
  for (auto& spare : blocks_) {
    if (!spare) spare = std::make_shared_for_overwrite<char[]>(kBlock);
    if (spare.use_count() == 1) return spare;
  }
  blocks_[0] = std::make_shared_for_overwrite<char[]>(kBlock);
  return blocks_[0];
}

OutputPump::Read OutputPump::read_block(Stream& stream, std::size_t most) {
  const int fd = stream.fd.get();
  // A stream that filled the small buffer is read into blocks that its events can share.
  char small[kSmall];
  const bool large = stream.busy && most > kSmall;
  const std::shared_ptr<char[]> shared = large ? block() : nullptr;
  char* const buffer = large ? shared.get() : small;
  const std::size_t wanted = std::min(large ? kBlock : kSmall, most);

  const ssize_t got = ::read(fd, buffer, wanted);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Read::nothing;
  if (got <= 0) return Read::end;  // a terminal whose other side is closed says EIO

  auto size = static_cast<std::size_t>(got);
  const bool filled = size == wanted;
  stream.busy = filled || size > kSmall;
  if (size >= kDefaultPipe && !stream.grown) {
    stream.grown = true;
    // May be refused (pipe-user-pages-soft); then it stays as it is.
    (void)::fcntl(fd, F_SETPIPE_SZ, kGrownPipe);
  }

  bytes_ += size;
  bool over = false;
  if (limit_ && bytes_ > *limit_) {
    over = true;
    cut_ = true;
    size -= std::min<std::uint64_t>(size, bytes_ - *limit_);
  }
  const std::string_view data(buffer, size);
  // Events keep their block alive: one that is not even half full is copied instead.
  stream.pending = shared && size >= kBlock / 2 ? Bytes(shared, data) : Bytes(data);
  if (over) return Read::over;
  return filled ? Read::data : Read::rest;
}

void OutputPump::frame_pending(std::size_t index, Duration at, bool drop_oldest,
                               bool whatever_size) {
  Stream& stream = streams_[index];
  while (!stream.pending.empty()) {
    if (!drop_oldest && !whatever_size && queue_.full()) return;
    std::size_t consumed = 0;
    queue_.append(kind_of(index), at, [&](std::vector<Event>& out) {
      consumed = stream.framer->feed(stream.pending, kFramesAtOnce, out);
    });
    stream.pending = stream.pending.slice(consumed);
    if (drop_oldest) queue_.drop_to_fit();
  }
}

void OutputPump::end(std::size_t index, Duration at, bool drop_oldest) {
  Stream& stream = streams_[index];
  stream.live = false;
  queue_.append(kind_of(index), at, [&](std::vector<Event>& out) { stream.framer->finish(out); });
  stream.framer.reset();
  if (drop_oldest) queue_.drop_to_fit();
}

OutputPump::Filled OutputPump::fill(std::size_t index, Duration at, bool drop_oldest) {
  Stream& stream = streams_[index];
  if (!stream.live) return Filled::ended;
  // One reader must not be kept from its events, nor the loop from other processes, by a program
  // that writes as fast as we read.
  constexpr int kRounds = 4;
  for (int round = 0; round < kRounds; ++round) {
    frame_pending(index, at, drop_oldest, false);
    if (!stream.pending.empty()) return Filled::full;
    switch (read_block(stream, kBlock)) {
      case Read::data:
        frame_pending(index, at, drop_oldest, false);
        break;
      case Read::rest:
        frame_pending(index, at, drop_oldest, false);
        return stream.pending.empty() && !(queue_.full() && !drop_oldest) ? Filled::waiting
                                                                          : Filled::full;
      case Read::nothing:
        return Filled::waiting;
      case Read::end:
        end(index, at, drop_oldest);
        return Filled::ended;
      case Read::over:
        frame_pending(index, at, drop_oldest, false);
        return Filled::over_limit;
    }
    if (queue_.full() && !drop_oldest) return Filled::full;
  }
  return Filled::waiting;
}

void OutputPump::finish(Duration at, bool drop_oldest) {
  for (std::size_t index = 0; index < kStreams; ++index) {
    Stream& stream = streams_[index];
    if (!stream.live) continue;
    frame_pending(index, at, drop_oldest, true);
    // What a terminal says is readable does not count what is still on its way; reading does.
    std::size_t left = std::max(readable_bytes(stream.fd.get()), kInFlight);
    while (left > 0) {
      const std::uint64_t before = bytes_;
      if (const Read r = read_block(stream, left); r == Read::nothing || r == Read::end) break;
      left -= std::min<std::size_t>(left, bytes_ - before);
      frame_pending(index, at, drop_oldest, true);
    }
    end(index, at, drop_oldest);
  }
}

}  // namespace cordon::supervise
