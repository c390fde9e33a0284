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

}  // namespace

Result<Channel> reach(const std::string& name, std::string_view operation) {
  auto found = look(name);
  if (!found) return std::unexpected(std::move(found.error()));
  if (!found->supervised) return at_its_end(found->record, operation);
  auto entry = find_entry(name);
  if (!entry) return std::unexpected(std::move(entry.error()));
  auto socket = entry->place().connect();
  if (!socket && socket.error().code == ErrorCode::not_found) {
    return base::fail(ErrorCode::wrong_state, kStage,
                      concat("sandbox '", name, "' is about to begin or to end, so ", operation,
                             " is not possible: try again, and see 'cordon sandbox ls'"));
  }
  if (!socket) return std::unexpected(std::move(socket.error()));
  Channel channel(*std::move(socket));
  auto greeted = channel.send(Kind::hello, Hello{.version = std::string(version())}, kAnswer);
  if (!greeted && greeted.error().code != ErrorCode::closed) {
    return std::unexpected(std::move(greeted.error()));
  }
  return channel;
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
