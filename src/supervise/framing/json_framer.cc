#include "supervise/framing/json_framer.h"

#include <algorithm>

namespace cordon::supervise {
namespace {

// Memory above this is given back rather than kept for the next value.
constexpr std::size_t kKeepCapacity = std::size_t{64} * 1024;

void forget(std::string& text) {
  text.clear();
  if (text.capacity() > kKeepCapacity) text.shrink_to_fit();
}

}  // namespace

std::size_t JsonFramer::feed(const Bytes& block, std::size_t max_frames, std::vector<Event>& out) {
  const std::string_view text = block.view();
  const std::size_t before = out.size();
  std::size_t at = 0;
  while (at < text.size() && out.size() - before < max_frames) {
    const std::string_view rest = text.substr(at);
    switch (place_) {
      case Place::between_values:
        at += skip_space(rest);
        break;
      case Place::in_value:
        at += take_value(rest, out);
        break;
      case Place::in_garbage:
        at += take_garbage(rest, out);
        break;
    }
  }
  return at;
}

std::size_t JsonFramer::skip_space(std::string_view rest) {
  const auto start = std::find_if_not(rest.begin(), rest.end(), is_json_space);
  if (start != rest.end()) {
    scanner_.reset();
    place_ = Place::in_value;
  }
  return static_cast<std::size_t>(start - rest.begin());
}

std::size_t JsonFramer::take_value(std::string_view rest, std::vector<Event>& out) {
  // One byte more than may belong to the value shows whether it is too long.
  const std::size_t room = max_frame_ - text_.size();
  const auto step = scanner_.scan(rest.substr(0, room + 1));
  const std::string_view piece = rest.substr(0, std::min(step.consumed, room));
  const bool too_long = step.consumed > room;

  if (too_long || step.status == JsonScanner::Status::error) {
    garbage_.start(text_, piece);
    forget(text_);
    place_ = Place::in_garbage;
  } else if (step.status == JsonScanner::Status::done) {
    end_value(piece, out);
  } else {
    text_.append(piece);
  }
  return piece.size();
}

void JsonFramer::end_value(std::string_view end, std::vector<Event>& out) {
  if (text_.empty()) {
    out.emplace_back().data = Bytes(end);
  } else {
    out.emplace_back().data = Bytes(text_.append(end));
    forget(text_);
  }
  place_ = Place::between_values;
}

std::size_t JsonFramer::take_garbage(std::string_view rest, std::vector<Event>& out) {
  const auto step = garbage_.add(rest, out);
  if (step.line_end) place_ = Place::between_values;
  return step.consumed;
}

void JsonFramer::finish(std::vector<Event>& out) {
  if (place_ == Place::in_garbage) {
    garbage_.finish(out);
  } else if (place_ == Place::in_value) {
    std::string_view text = text_;
    const bool whole = scanner_.complete();
    if (!whole && text.ends_with('\n')) {
      text.remove_suffix(text.ends_with("\r\n") ? 2 : 1);
    }
    Event& event = out.emplace_back();
    event.data = Bytes(text);
    event.invalid = !whole;
  }
  place_ = Place::between_values;
}

}  // namespace cordon::supervise
