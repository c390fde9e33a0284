#include "supervise/framing/line_framer.h"

namespace cordon::supervise {

std::size_t LineFramer::feed(const Bytes& block, std::size_t max_frames, std::vector<Event>& out) {
  const std::string_view text = block.view();
  std::size_t at = 0;
  for (std::size_t frames = 0; frames < max_frames && at < text.size();) {
    if (!spanning_.empty()) {
      const auto step = spanning_.add(text.substr(at), out);
      at += step.consumed;
      frames += step.emitted ? 1 : 0;
      continue;
    }
    // The longest line that fits, with its terminator: looking further would make long lines
    // quadratic when max_frames is small.
    const std::string_view window = text.substr(at, max_frame_ + 2);
    const std::size_t newline = window.find('\n');
    const std::size_t length = newline == std::string_view::npos ? window.size() : newline;
    const std::size_t content = length - (length > 0 && window[length - 1] == '\r' ? 1 : 0);
    if (newline != std::string_view::npos && content <= max_frame_) {
      out.emplace_back().data = block.slice(at, content);
      at += newline + 1;
      ++frames;
    } else if (length > max_frame_ + 1 || content > max_frame_) {
      Event& event = out.emplace_back();
      event.data = block.slice(at, max_frame_);
      event.partial = true;
      at += max_frame_;
      ++frames;
    } else {
      spanning_.start({}, window);
      return text.size();
    }
  }
  return at;
}

void LineFramer::finish(std::vector<Event>& out) { spanning_.finish(out); }

}  // namespace cordon::supervise
