#include "supervise/framing/chunked_framer.h"

#include <algorithm>
#include <utility>

namespace cordon::supervise {
namespace {

// Chunks up to this size get their memory at once, larger ones as their bytes arrive.
constexpr std::size_t kReserveUpTo = std::size_t{1024} * 1024;

}  // namespace

std::size_t ChunkedFramer::feed(const Bytes& block, std::size_t max_frames,
                                std::vector<Event>& out) {
  std::size_t at = 0;
  for (std::size_t frames = 0; frames < max_frames && at < block.size();) {
    const std::size_t rest = block.size() - at;
    if (pending_.empty() && rest >= chunk_size_) {
      out.emplace_back().data = block.slice(at, chunk_size_);
      at += chunk_size_;
      ++frames;
      continue;
    }
    if (pending_.empty() && chunk_size_ <= kReserveUpTo) pending_.reserve(chunk_size_);
    const std::size_t take = std::min(rest, chunk_size_ - pending_.size());
    pending_.append(block.view().substr(at, take));
    at += take;
    if (pending_.size() == chunk_size_) {
      emit_pending(out);
      ++frames;
    }
  }
  return at;
}

void ChunkedFramer::finish(std::vector<Event>& out) {
  if (!pending_.empty()) emit_pending(out);
}

void ChunkedFramer::emit_pending(std::vector<Event>& out) {
  auto owner = std::make_shared<const std::string>(std::exchange(pending_, {}));
  const std::string_view view = *owner;
  out.emplace_back().data = Bytes(std::move(owner), view);
}

}  // namespace cordon::supervise
