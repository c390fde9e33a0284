#include "sandbox/transcript.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "cordon/request.h"

namespace cordon::sandbox {

struct Transcript::Reader::State {
  std::shared_ptr<Transcript::Shared> shared;
  // Guarded by the mutex of `shared`.
  From from;
  bool hold = false;
  std::function<void()> ready;
  std::thread::id calling{};  // this thread is in a `ready` of this reader
};

struct Transcript::Shared {
  struct Kept {
    Event event;
    std::uint64_t offset = 0;
  };

  std::mutex mutex;
  std::condition_variable changed;
  std::size_t limit = 0;
  std::size_t cost = 0;
  std::deque<Kept> kept;
  std::uint64_t offset = 0;          // bytes of output so far
  std::uint64_t source_dropped = 0;  // of those, never seen here
  std::uint64_t dropped = 0;         // of those, not kept
  bool ended = false;
  std::shared_ptr<const Outcome> outcome;
  std::vector<std::shared_ptr<Reader::State>> readers;

  static std::size_t cost_of(const Event& event) { return event.data.size() + kEventCost; }

  // With the mutex.

  // The first kept event that this reader has not had.
  [[nodiscard]] auto first_for(const Reader::State& reader) {
    return std::ranges::lower_bound(kept, reader.from.sequence, {},
                                    [](const Kept& k) { return k.event.sequence; });
  }
  [[nodiscard]] bool ready_for(const Reader::State& reader) {
    return ended || first_for(reader) != kept.end();
  }
  // Somebody who holds has not had the oldest event.
  [[nodiscard]] bool held() const {
    return std::ranges::any_of(readers, [this](const auto& reader) {
      return reader->hold && reader->from.sequence <= kept.front().event.sequence;
    });
  }
  void make_room(std::unique_lock<std::mutex>& lock, std::size_t needed) {
    while (!kept.empty() && cost + needed > limit) {
      changed.wait(lock, [this] { return kept.empty() || !held(); });
      if (kept.empty()) return;
      cost -= cost_of(kept.front().event);
      dropped += kept.front().event.data.size();
      kept.pop_front();
    }
  }

  // Wakes those who wait. Gives the mutex up meanwhile: `ready` is the user's.
  void tell(std::unique_lock<std::mutex>& lock) {
    changed.notify_all();
    for (;;) {
      const auto next = std::ranges::find_if(
          readers, [this](const auto& reader) { return reader->ready && ready_for(*reader); });
      if (next == readers.end()) return;
      // A copy, because the reader may go meanwhile.
      // NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
      const std::shared_ptr<Reader::State> reader = *next;
      const std::function<void()> ready = std::exchange(reader->ready, {});
      reader->calling = std::this_thread::get_id();
      lock.unlock();
      ready();
      lock.lock();
      reader->calling = {};
      changed.notify_all();
    }
  }
};

// --- Feeding.

Transcript::Transcript(std::size_t limit) : shared_(std::make_shared<Shared>()) {
  shared_->limit = limit;
}
Transcript::~Transcript() { close(); }

void Transcript::feed(EventStream& events) {
  while (auto event = events.next()) append(*std::move(event));
  close();
}

void Transcript::append(Event event) {
  std::unique_lock lock(shared_->mutex);
  if (shared_->ended) return;
  if (event.kind == Event::Kind::exit) {
    shared_->outcome = event.outcome;
    shared_->ended = true;
  } else {
    event.data = Bytes(event.data.view());  // not the whole block that it was read into
    shared_->make_room(lock, Shared::cost_of(event));
    shared_->cost += Shared::cost_of(event);
  }
  if (event.dropped > shared_->source_dropped) {
    const std::uint64_t lost = event.dropped - shared_->source_dropped;
    shared_->source_dropped = event.dropped;
    shared_->offset += lost;
    shared_->dropped += lost;
  }
  const std::uint64_t offset = shared_->offset;
  shared_->offset += event.data.size();
  shared_->kept.push_back({.event = std::move(event), .offset = offset});
  shared_->tell(lock);
}

void Transcript::close() {
  std::unique_lock lock(shared_->mutex);
  if (shared_->ended) return;
  shared_->ended = true;
  shared_->tell(lock);
}

// --- Looking.

bool Transcript::ended() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->ended;
}
std::shared_ptr<const Outcome> Transcript::outcome() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->outcome;
}
std::uint64_t Transcript::written() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->offset;
}
std::uint64_t Transcript::dropped() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->dropped;
}

// --- Reading.

Transcript::Reader Transcript::read(From from, bool hold) {
  auto state = std::make_shared<Reader::State>();
  state->shared = shared_;
  state->from = from;
  state->hold = hold;
  const std::scoped_lock lock(shared_->mutex);
  shared_->readers.push_back(state);
  return Reader(std::move(state));
}

Transcript::Reader::Reader(std::shared_ptr<State> state) : state_(std::move(state)) {}
Transcript::Reader::Reader(Reader&&) noexcept = default;
Transcript::Reader& Transcript::Reader::operator=(Reader&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Transcript::Reader::~Reader() {
  if (!state_) return;
  notify({});
  const std::scoped_lock lock(state_->shared->mutex);
  std::erase(state_->shared->readers, state_);
  state_->shared->changed.notify_all();  // it holds nobody any more
}

std::optional<Transcript::Entry> Transcript::Reader::next() {
  auto entry = next_for(kNoTimeout);
  return entry ? *std::move(entry) : std::nullopt;
}

Result<std::optional<Transcript::Entry>> Transcript::Reader::next_for(Duration patience) {
  Shared& shared = *state_->shared;
  std::unique_lock lock(shared.mutex);
  const auto ready = [&] { return shared.ready_for(*state_); };
  constexpr Duration kForEver = std::chrono::hours(24 * 365);  // what no clock overflows with
  if (patience >= kForEver) {
    shared.changed.wait(lock, ready);
  } else if (!shared.changed.wait_for(lock, patience, ready)) {
    return base::fail(ErrorCode::timed_out, "transcript", "nothing was written in this time");
  }
  const auto found = shared.first_for(*state_);
  if (found == shared.kept.end()) return std::nullopt;
  From& from = state_->from;
  Entry entry{.event = found->event,
              .offset = found->offset,
              .missed = found->offset - std::min(found->offset, from.offset)};
  from = {.sequence = entry.event.sequence + 1, .offset = entry.offset + entry.event.data.size()};
  if (state_->hold) shared.changed.notify_all();
  return entry;
}

void Transcript::Reader::notify(std::function<void()> ready) {
  Shared& shared = *state_->shared;
  std::unique_lock lock(shared.mutex);
  state_->ready = {};
  if (state_->calling != std::this_thread::get_id()) {
    shared.changed.wait(lock, [this] { return state_->calling == std::thread::id{}; });
  }
  if (!ready) return;
  if (!shared.ready_for(*state_)) {
    state_->ready = std::move(ready);
    return;
  }
  lock.unlock();
  ready();
}

Transcript::From Transcript::Reader::position() const {
  const std::scoped_lock lock(state_->shared->mutex);
  return state_->from;
}

}  // namespace cordon::sandbox
