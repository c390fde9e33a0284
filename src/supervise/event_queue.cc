#include "supervise/event_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cordon::supervise {

void EventQueue::push(Event::Kind kind, Duration at, std::vector<Event>& frames) {
  append(kind, at, [&](std::vector<Event>& out) {
    if (out.empty()) {
      out.swap(frames);
    } else {
      out.insert(out.end(), std::make_move_iterator(frames.begin()),
                 std::make_move_iterator(frames.end()));
    }
  });
  frames.clear();
}

void EventQueue::stamp(std::size_t from, Event::Kind kind, Duration at) {
  for (std::size_t i = from; i < events_.size(); ++i) {
    Event& event = events_[i];
    event.kind = kind;
    event.sequence = sequence_++;
    event.at = at;
    event.dropped = dropped_;
    cost_ += cost_of(event);
  }
}

void EventQueue::push_exit(Duration at, std::shared_ptr<const Outcome> outcome) {
  Event event;
  event.kind = Event::Kind::exit;
  event.sequence = sequence_++;
  event.at = at;
  event.dropped = dropped_;
  event.outcome = std::move(outcome);
  cost_ += cost_of(event);
  events_.push_back(std::move(event));
  exit_pushed_ = true;
}

void EventQueue::drop_to_fit() {
  while (cost_ > capacity_ && head_ < events_.size() && events_[head_].kind != Event::Kind::exit) {
    cost_ -= cost_of(events_[head_]);
    dropped_ += events_[head_].data.size();
    events_[head_] = Event{};  // lets go of the bytes
    ++head_;
  }
  // The next event that is read tells how much is missing before it.
  if (head_ < events_.size()) events_[head_].dropped = dropped_;
  if (head_ > events_.size() / 2) {
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

void EventQueue::take(std::vector<Event>& batch) {
  batch.clear();
  if (head_ == 0) {
    batch.swap(events_);
  } else {
    batch.assign(std::make_move_iterator(events_.begin() + static_cast<std::ptrdiff_t>(head_)),
                 std::make_move_iterator(events_.end()));
    events_.clear();
    head_ = 0;
  }
  cost_ = 0;
  if (dropped_ == 0) return;
  // Events stamped before something older was dropped: the count never goes back.
  std::uint64_t dropped = 0;
  for (Event& event : batch) {
    dropped = std::max(dropped, event.dropped);
    event.dropped = dropped;
  }
}

void EventQueue::give_back(std::vector<Event> unread) {
  for (const Event& event : unread) cost_ += cost_of(event);
  unread.insert(unread.end(),
                std::make_move_iterator(events_.begin() + static_cast<std::ptrdiff_t>(head_)),
                std::make_move_iterator(events_.end()));
  // Another reader may have given back older ones before.
  const auto older = [](const Event& a, const Event& b) { return a.sequence < b.sequence; };
  if (!std::is_sorted(unread.begin(), unread.end(), older)) {
    std::sort(unread.begin(), unread.end(), older);
  }
  events_ = std::move(unread);
  head_ = 0;
}

}  // namespace cordon::supervise
