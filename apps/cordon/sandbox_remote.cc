#include "sandbox_remote.h"

#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/errors.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
constexpr std::size_t kMostWaiting = std::size_t{1024} * 1024;
constexpr std::size_t kMostInput = std::size_t{64} * 1024;
constexpr Duration kSay = std::chrono::seconds(10);

Error gone() { return {ErrorCode::closed, kStage, 0, "the program is not attached any more"}; }

template <typename Wait>
bool wait_up_to(Duration patience, Wait wait) {
  constexpr Duration kLong = std::chrono::hours(24);
  if (patience <= kLong) return wait(patience);
  while (!wait(kLong)) {
  }
  return true;
}

}  // namespace

Remote::Remote(Channel channel, Started started, Bond bond, bool keys)
    : channel_(std::move(channel)), started_(started), bond_(bond), keys_(keys), thread_([this] {
        receive_all();
      }) {}

Remote::~Remote() {
  detach();
  thread_.join();
}

void Remote::detach() {
  const std::lock_guard lock(mutex_);
  if (!over()) detached_ = true;
  (void)::shutdown(channel_.fd(), SHUT_RDWR);
  changed_.notify_all();
}

Result<void> Remote::say_bytes(Kind kind, const std::string& bytes) {
  {
    const std::lock_guard lock(mutex_);
    if (over()) return std::unexpected(gone());
  }
  const std::lock_guard lock(sending_);
  return channel_.send(kind, bytes, {}, kSay);
}

void Remote::receive_all() {
  while (true) {
    const auto message = channel_.receive(kNoTimeout);
    if (message && hear(*message)) continue;
    const std::lock_guard lock(mutex_);
    if (!over()) {
      lost_ = Error{ErrorCode::system, kStage, 0,
                    "the supervisor of the sandbox went away, and everything inside with it"};
    }
    changed_.notify_all();
    return;
  }
}

bool Remote::hear(const Message& message) {
  std::unique_lock lock(mutex_);
  switch (message.kind) {
    case Kind::output: {
      auto output = from_bytes<Output>(message.bytes);
      if (!output) return false;
      changed_.wait(lock, [&] { return bytes_ < kMostWaiting || over(); });
      dropped_ += output->dropped;
      bytes_ += output->data.size();
      Event event{.kind = output->err ? Event::Kind::err : Event::Kind::out,
                  .sequence = sequence_++,
                  .dropped = dropped_,
                  .data = Bytes(output->data),
                  .outcome = {}};
      events_.push_back(std::move(event));
      changed_.notify_all();
      return true;
    }
    case Kind::taken:
      input_under_way_ = false;
      changed_.notify_all();
      return true;
    case Kind::ended:
      outcome_ = from_bytes<Outcome>(message.bytes);
      if (!outcome_) return false;
      events_.push_back({.kind = Event::Kind::exit,
                         .sequence = sequence_++,
                         .dropped = dropped_,
                         .data = {},
                         .outcome = std::make_shared<const Outcome>(*outcome_)});
      changed_.notify_all();
      return false;
    default:
      return false;
  }
}

std::string Remote::without_keys(std::string_view typed) {
  std::string rest;
  for (const char key : typed) {
    if (std::exchange(half_key_, false)) {
      if (key == kDetachKeys[1]) {
        detach();
        return {};
      }
      rest += kDetachKeys[0];
    }
    if (key == kDetachKeys[0]) {
      half_key_ = true;
    } else {
      rest += key;
    }
  }
  return rest;
}

Result<std::size_t> Remote::write(std::string_view data, Duration patience) {
  if (!started_.relayed) return std::unexpected(gone());
  std::unique_lock lock(mutex_);
  const bool free = wait_up_to(patience, [&](Duration d) {
    return changed_.wait_for(lock, d, [&] { return !input_under_way_ || over(); });
  });
  if (over()) return std::unexpected(gone());
  if (!free) return 0;
  const std::string_view now = data.substr(0, kMostInput);
  lock.unlock();
  const std::string bytes = keys_ ? without_keys(now) : std::string(now);
  if (bytes.empty()) return now.size();
  lock.lock();
  input_under_way_ = true;
  lock.unlock();
  if (auto said = say_bytes(Kind::input, bytes); !said) {
    return std::unexpected(std::move(said.error()));
  }
  return now.size();
}

Result<void> Remote::end_input() {
  if (!started_.relayed || bond_ == Bond::visitor) return {};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !input_under_way_ || over(); });
  if (over()) return {};
  lock.unlock();
  return say(Kind::input_end, Nothing{});
}

Result<void> Remote::signal(int number, Reach reach) {
  if (bond_ == Bond::owner) {
    return say(Kind::signal, Signal{.number = number, .tree = reach == Reach::tree});
  }
  detach();
  return {};
}

Result<void> Remote::end(std::optional<Duration> grace) {
  if (bond_ == Bond::visitor) {
    detach();
    return {};
  }
  if (grace) return say(Kind::terminate, Stop{.grace = *grace});
  return say(Kind::signal, Signal{.number = SIGKILL, .tree = true});
}

Result<void> Remote::take(std::vector<Event>& batch, Duration patience) {
  std::unique_lock lock(mutex_);
  const bool came = wait_up_to(patience, [&](Duration d) {
    return changed_.wait_for(lock, d, [&] { return !events_.empty() || over(); });
  });
  if (!came) return base::fail(ErrorCode::timed_out, kStage, "no output in time");
  while (!events_.empty()) {
    bytes_ -= events_.front().data.size();
    batch.push_back(std::move(events_.front()));
    events_.pop_front();
  }
  changed_.notify_all();
  return {};
}

std::optional<Outcome> Remote::outcome() const {
  const std::lock_guard lock(mutex_);
  return outcome_;
}

Result<Outcome> Remote::wait(Duration patience) {
  std::unique_lock lock(mutex_);
  const bool ended = wait_up_to(
      patience, [&](Duration d) { return changed_.wait_for(lock, d, [&] { return over(); }); });
  if (!ended) return base::fail(ErrorCode::timed_out, kStage, "it has not ended in time");
  if (outcome_) return *outcome_;
  return std::unexpected(lost_ ? *lost_ : gone());
}

}  // namespace cordon::app::sandbox
