#include <iterator>
#include <utility>

#include "cordon/events.h"
#include "cordon/request.h"

namespace cordon {

EventStream::EventStream(std::shared_ptr<EventSource> source) : source_(std::move(source)) {
  source_->attach();
}

EventStream::~EventStream() { detach(); }

EventStream& EventStream::operator=(EventStream&& other) noexcept {
  if (this != &other) {
    detach();
    source_ = std::move(other.source_);
    batch_ = std::move(other.batch_);
    next_ = other.next_;
  }
  return *this;
}

void EventStream::detach() {
  if (!source_) return;
  std::vector<Event> unread(
      std::make_move_iterator(batch_.begin() + static_cast<std::ptrdiff_t>(next_)),
      std::make_move_iterator(batch_.end()));
  batch_.clear();
  next_ = 0;
  std::exchange(source_, nullptr)->detach(std::move(unread));
}

bool EventStream::refill() {
  batch_.clear();
  next_ = 0;
  return source_->take(batch_, kNoTimeout).has_value() && !batch_.empty();
}

Result<std::optional<Event>> EventStream::next_for(Duration patience) {
  if (next_ == batch_.size()) {
    batch_.clear();
    next_ = 0;
    if (auto taken = source_->take(batch_, patience); !taken) {
      return std::unexpected(std::move(taken.error()));
    }
    if (batch_.empty()) return std::nullopt;
  }
  return std::move(batch_[next_++]);
}

void EventStream::notify(std::function<void()> ready) {
  if (ready && next_ < batch_.size()) {
    ready();
    return;
  }
  source_->notify(std::move(ready));
}

}  // namespace cordon
