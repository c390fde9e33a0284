// Cuts a stream of bytes into events, one stream a Framer.
//
// The frames depend only on the bytes, never on how they were split into blocks (raw excepted).
// Memory is bounded by a small multiple of `Framing::max_frame` or `chunk_size`. Each byte is
// looked at a bounded number of times, whatever the sizes of the blocks. A limit of 0 counts as 1.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cordon/events.h"
#include "cordon/request.h"

namespace cordon::supervise {

class Framer {
 public:
  virtual ~Framer() = default;
  // Appends to `out` the frames that end in `block`, at most `max_frames` of them, as events with
  // data, partial and invalid filled in. Returns how many bytes of `block` were consumed: all of
  // them unless max_frames was reached; the caller comes back with the rest (Bytes::slice). Events
  // may share the block's memory, except in json mode, where a tiny value must not keep it alive.
  [[nodiscard]] virtual std::size_t feed(const Bytes& block, std::size_t max_frames,
                                         std::vector<Event>& out) = 0;
  // End of the stream: appends what is left (in line and json mode it may be two frames). Nothing
  // may be fed afterwards.
  virtual void finish(std::vector<Event>& out) = 0;
};

[[nodiscard]] std::unique_ptr<Framer> make_framer(const Framing& framing);

}  // namespace cordon::supervise
