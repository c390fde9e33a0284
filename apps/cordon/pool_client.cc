#include "pool_client.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/version.h"
#include "service_place.h"

namespace cordon::app::pool {
namespace {

constexpr const char* kStage = "pool";
// After the time that a client waits for a place, for the answer that there is none.
constexpr Duration kSlack = std::chrono::seconds(2);

std::unexpected<Error> none_runs() {
  return base::fail(ErrorCode::not_found, kStage, "no pool runs: start one by 'cordon pool start'");
}

std::unexpected<Error> refusal(const Message& message) {
  const auto refused = from_bytes<Refused>(message.bytes);
  if (!refused) {
    return base::fail(ErrorCode::system, kStage, "the pool has given an answer of no meaning");
  }
  const bool for_good = refused->why == Refused::Why::not_permitted;
  return base::fail(for_good ? ErrorCode::not_permitted : ErrorCode::resource_exhausted, kStage,
                    concat("the pool has refused this run: ", refused->message));
}

// Waits for an answer. Error: none came, or a signal did.
Result<void> await_answer(int connection, Duration patience, const sigset_t& signals) {
  sigset_t ending = signals;
  sigdelset(&ending, SIGWINCH);
  const base::Fd pending(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
  const TimePoint until = real_clock().now() + patience;
  while (true) {
    std::array<pollfd, 2> waiting = {{{.fd = connection, .events = POLLIN, .revents = 0},
                                      {.fd = pending.get(), .events = POLLIN, .revents = 0}}};
    const Duration left = std::max(Duration{0}, until - real_clock().now());
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(ms));
    if (ready < 0 && errno == EINTR) continue;
    if (waiting[0].revents != 0) return {};
    if (waiting[1].revents != 0) {  // left pending: it is for the run, wherever that will be
      return base::fail(ErrorCode::resource_exhausted, kStage,
                        "interrupted while the pool was busy");
    }
    if (ready <= 0) return base::fail(ErrorCode::timed_out, kStage, "the pool does not answer");
  }
}

// A service that refuses may close before it has read a word: then what it has said counts.
template <typename T>
Result<void> say(Channel& channel, Kind kind, T value) {
  auto said = channel.send(kind, std::move(value), kAnswer);
  if (!said && said.error().code == ErrorCode::closed) return {};
  return said;
}

}  // namespace

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : concat("=", value);
}

Result<Channel> connect() {
  auto place = service::Place::find("pool", kPlace);
  if (!place) {
    if (place.error().os_error == ENOENT) return none_runs();
    return std::unexpected(std::move(place.error()));
  }
  auto socket = place->connect();
  if (!socket) {
    if (socket.error().code == ErrorCode::not_found) return none_runs();
    return std::unexpected(std::move(socket.error()));
  }
  return Channel(*std::move(socket));
}

Result<Message> expect(Channel& channel, Kind kind, Duration patience) {
  auto answer = channel.receive(patience);
  if (!answer) return answer;
  if (answer->kind == Kind::refused) return refusal(*answer);
  if (answer->kind != kind) {
    return base::fail(ErrorCode::system, kStage, "the pool has given an answer of no meaning");
  }
  return answer;
}

Result<ServiceStatus> ask_status() {
  auto channel = connect();
  if (!channel) return std::unexpected(std::move(channel.error()));
  auto asked = say(*channel, Kind::status, Nothing{});
  if (!asked) return std::unexpected(std::move(asked.error()));
  const auto answer = expect(*channel, Kind::status, kAnswer);
  if (!answer) return std::unexpected(answer.error());
  const auto status = from_bytes<ServiceStatus>(answer->bytes);
  if (!status) return base::fail(ErrorCode::system, kStage, "the pool has given no status");
  return *status;
}

Result<void> ask_to_stop(Duration grace) {
  auto channel = connect();
  if (!channel) return std::unexpected(std::move(channel.error()));
  if (auto asked = say(*channel, Kind::stop, Stop{.grace = grace}); !asked) return asked;
  auto answer = expect(*channel, Kind::stopping, kAnswer);
  if (!answer) return std::unexpected(std::move(answer.error()));
  const auto closed = channel->receive(grace + kAnswer);
  if (!closed && closed.error().code == ErrorCode::closed) return {};
  return base::fail(ErrorCode::timed_out, kStage,
                    "the pool was told to stop, and has not ended in time: see 'cordon pool "
                    "status' for its process");
}

Result<void> ask_for_place(Channel& channel, Duration patience) {
  return say(channel, Kind::reserve,
             Reserve{.version = std::string(version()),
                     .home = variable("HOME"),
                     .tmpdir = variable("TMPDIR"),
                     .patience = patience});
}

Result<void> await_place(Channel& channel, Duration patience, const sigset_t& signals) {
  if (auto came = await_answer(channel.fd(), patience + kSlack, signals); !came) return came;
  if (auto ready = expect(channel, Kind::ready, kAnswer); !ready) {
    return std::unexpected(std::move(ready.error()));
  }
  return {};
}

}  // namespace cordon::app::pool
