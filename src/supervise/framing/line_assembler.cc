#include "supervise/framing/line_assembler.h"

#include <algorithm>

namespace cordon::supervise {
namespace {

// Memory above this is given back at the end of a line rather than kept for the next.
constexpr std::size_t kKeepCapacity = std::size_t{64} * 1024;

}  // namespace

void LineAssembler::start(std::string_view before, std::string_view text) {
  text_.assign(before).append(text);
}

LineAssembler::Step LineAssembler::add(std::string_view rest, std::vector<Event>& out) {
  // The longest line that fits, with its terminator: further bytes need not be looked at.
  const std::size_t room = max_frame_ + 2 - text_.size();
  const std::string_view window = rest.substr(0, room);
  const std::size_t newline = window.find('\n');
  const std::string_view piece = window.substr(0, newline);

  const std::size_t length = text_.size() + piece.size();
  const char last = !piece.empty() ? piece.back() : !text_.empty() ? text_.back() : '\0';
  const std::size_t content = length - (last == '\r' ? 1 : 0);

  if (newline != std::string_view::npos && content <= max_frame_) {
    text_.append(piece);
    text_.resize(content);
    emit(content, /*partial=*/false, out);
    return {.consumed = newline + 1, .emitted = true, .line_end = true};
  }
  if (newline == std::string_view::npos && length <= max_frame_ + 1 && content <= max_frame_) {
    text_.append(piece);
    return {.consumed = piece.size()};
  }
  // More than max_frame_ bytes of content are certain.
  const std::size_t take = max_frame_ - std::min(max_frame_, text_.size());
  text_.append(piece.substr(0, take));
  emit(max_frame_, /*partial=*/true, out);
  return {.consumed = take, .emitted = true};
}

void LineAssembler::finish(std::vector<Event>& out) {
  if (text_.size() > max_frame_) emit(max_frame_, /*partial=*/true, out);
  if (!text_.empty()) emit(text_.size(), /*partial=*/false, out);
}

void LineAssembler::emit(std::size_t length, bool partial, std::vector<Event>& out) {
  Event& event = out.emplace_back();
  event.data = Bytes(std::string_view(text_).substr(0, length));
  event.partial = partial;
  event.invalid = invalid_;
  text_.erase(0, length);
  if (!partial && text_.capacity() > kKeepCapacity) text_.shrink_to_fit();
}

}  // namespace cordon::supervise
