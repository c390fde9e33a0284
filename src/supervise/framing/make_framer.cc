#include "supervise/framing/chunked_framer.h"
#include "supervise/framing/framer.h"
#include "supervise/framing/json_framer.h"
#include "supervise/framing/line_framer.h"
#include "supervise/framing/raw_framer.h"

namespace cordon::supervise {

std::unique_ptr<Framer> make_framer(const Framing& framing) {
  switch (framing.mode) {
    case OutputMode::raw:
      break;
    case OutputMode::line:
      return std::make_unique<LineFramer>(framing.max_frame);
    case OutputMode::json:
      return std::make_unique<JsonFramer>(framing.max_frame, framing.max_depth);
    case OutputMode::chunked:
      return std::make_unique<ChunkedFramer>(framing.chunk_size);
  }
  return std::make_unique<RawFramer>();
}

}  // namespace cordon::supervise
