#include "input_relay.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace cordon::app {
namespace {

constexpr char kCtrlC = '\x03';
constexpr std::size_t kMostPending = 1024 * 1024;
// How long one attempt to hand on may take: Ctrl-C has to be seen although the program does not
// read.
constexpr Duration kPatience = std::chrono::milliseconds(50);

}  // namespace

InputRelay::InputRelay(Process& process, RunControl& control, Clock& clock, int from, Keys keys,
                       Wake stop)
    : process_(process),
      control_(control),
      clock_(clock),
      from_(from),
      keys_(keys),
      stop_(std::move(stop)),
      thread_([this] { relay(); }) {}

InputRelay::~InputRelay() {
  stop_.set();
  thread_.join();
}

void InputRelay::relay() {
  bool more = true;
  while (more || !pending_.empty()) {
    std::array<pollfd, 2> waiting = {{{.fd = stop_.fd(), .events = POLLIN, .revents = 0},
                                      {.fd = from_, .events = POLLIN, .revents = 0}}};
    if (!more || pending_.size() >= kMostPending) waiting[1].fd = -1;
    const int ready = ::poll(waiting.data(), waiting.size(), pending_.empty() ? -1 : 0);
    if (ready < 0 && errno != EINTR) return;
    if (waiting[0].revents != 0) return;
    if (waiting[1].revents != 0) more = read_some() == Turn::go_on;
    if (!pending_.empty() && write_some() == Turn::ended) return;
  }
  (void)process_.close_stdin();
}

InputRelay::Turn InputRelay::read_some() {
  std::array<char, 16 * 1024> buffer{};
  const ssize_t got = ::read(from_, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return Turn::go_on;
  if (got <= 0) return Turn::ended;
  const std::string_view typed(buffer.data(), static_cast<std::size_t>(got));
  if (keys_ == Keys::raw) watch_for_interrupts(typed);
  pending_ += typed;
  return Turn::go_on;
}

InputRelay::Turn InputRelay::write_some() {
  const auto written = process_.write_stdin(pending_, kPatience);
  if (written) {
    pending_.erase(0, *written);
    return Turn::go_on;
  }
  // The program does not want any more, or is gone. Keys are still watched for a second Ctrl-C.
  pending_.clear();
  return keys_ == Keys::raw ? Turn::go_on : Turn::ended;
}

void InputRelay::watch_for_interrupts(std::string_view typed) {
  for (std::size_t at = typed.find(kCtrlC); at != std::string_view::npos;
       at = typed.find(kCtrlC, at + 1)) {
    const TimePoint now = clock_.now();
    if (last_interrupt_ && now - *last_interrupt_ <= kAgain) control_.cancel();
    last_interrupt_ = now;
  }
}

}  // namespace cordon::app
