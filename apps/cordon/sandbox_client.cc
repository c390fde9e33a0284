#include "sandbox_client.h"

#include <utility>

#include "base/errors.h"
#include "concat.h"
#include "cordon/version.h"

namespace cordon::app::sandbox {
namespace {

constexpr const char* kStage = "sandbox";
// After a supervisor has said that it ends, until it has.
constexpr Duration kEnd = std::chrono::seconds(30);
constexpr Duration kPause = std::chrono::milliseconds(10);

std::unexpected<Error> senseless() {
  return base::fail(ErrorCode::system, kStage, "the sandbox has given an answer of no meaning");
}

// What can be done with a sandbox that nobody supervises.
std::string possible(const Record& record) {
  std::string text = concat("ls, ps, logs and rm are possible");
  if (!record.checkpoint.empty()) {
    text += concat(", and 'cordon sandbox restore ", record.name, " ", record.checkpoint, "'");
  }
  return text;
}

std::unexpected<Error> at_its_end(const Record& record, std::string_view operation) {
  return base::fail(ErrorCode::wrong_state, kStage,
                    concat("sandbox '", record.name, "' is ", to_string(record.state), ", so ",
                           operation, " is not possible: ", possible(record)));
}

Result<void> greet(Channel& channel) {
  auto greeted = channel.send(Kind::hello, Hello{.version = std::string(version())}, kAnswer);
  // Who is refused may find the connection closed: then what was said counts.
  if (!greeted && greeted.error().code == ErrorCode::closed) return {};
  return greeted;
}

}  // namespace

Result<Contact> contact(const std::string& name) {
  const TimePoint until = real_clock().now() + kEnd;
  while (true) {
    auto found = look(name);
    if (!found) return std::unexpected(std::move(found.error()));
    if (!found->supervised) return Contact{.record = std::move(found->record)};
    auto entry = find_entry(name);
    if (!entry) return std::unexpected(std::move(entry.error()));
    auto socket = entry->place().connect();
    if (socket) {
      Channel channel(*std::move(socket));
      if (auto greeted = greet(channel); !greeted) {
        return std::unexpected(std::move(greeted.error()));
      }
      return Contact{.record = std::move(found->record), .channel = std::move(channel)};
    }
    if (socket.error().code != ErrorCode::not_found) {
      return std::unexpected(std::move(socket.error()));
    }
    if (real_clock().now() >= until) {
      return base::fail(ErrorCode::timed_out, kStage,
                        concat("the supervisor of '", name, "', process ",
                               std::to_string(found->record.pid), ", does not answer"));
    }
    real_clock().sleep_until(real_clock().now() + kPause);
  }
}

Result<Channel> reach(const std::string& name, std::string_view operation) {
  auto contacted = contact(name);
  if (!contacted) return std::unexpected(std::move(contacted.error()));
  if (!contacted->channel) return at_its_end(contacted->record, operation);
  return *std::move(contacted->channel);
}

Result<Message> expect(Channel& channel, Kind kind, Duration patience) {
  auto answer = channel.receive(patience);
  if (!answer && answer.error().code == ErrorCode::closed) {
    return base::fail(ErrorCode::system, kStage,
                      "the sandbox has ended meanwhile: see 'cordon sandbox ls'");
  }
  if (!answer) return answer;
  if (answer->kind == Kind::refused) {
    auto error = from_bytes<Error>(answer->bytes);
    if (!error) return senseless();
    return std::unexpected(*std::move(error));
  }
  if (answer->kind != kind) return senseless();
  return answer;
}

Result<void> await_done(Channel& channel, Duration patience, bool end) {
  auto done = expect(channel, Kind::done, patience);
  if (!done) return std::unexpected(std::move(done.error()));
  if (!end) return {};
  const auto closed = channel.receive(kEnd);
  if (!closed && closed.error().code == ErrorCode::closed) return {};
  return base::fail(ErrorCode::timed_out, kStage,
                    "it is done, but the supervisor of the sandbox has not ended in time: see "
                    "'cordon sandbox ls' for its process");
}

}  // namespace cordon::app::sandbox
