// The command's end of the connection to the supervisor of a sandbox.
#pragma once

#include <optional>
#include <string>

#include "cordon/error.h"
#include "sandbox_messages.h"
#include "sandbox_store.h"

namespace cordon::app::sandbox {

// How long the command waits for what is answered at once.
inline constexpr Duration kAnswer = std::chrono::seconds(10);
// For a program that is started on a machine that is busy with others.
inline constexpr Duration kStart = std::chrono::minutes(1);

// A sandbox, and the way to its supervisor if it has one.
struct Contact {
  Record record;
  std::optional<Channel> channel{};  // none: it is at rest
};
// One that is about to begin or to end is waited for. Errors: not_found, those of the store, of
// Place and Channel.
[[nodiscard]] Result<Contact> contact(const std::string& name);

// To say something to the sandbox of this name, which has to run. Errors: not_found, wrong_state
// (naming `operation` and what is possible), those of Place and Channel.
[[nodiscard]] Result<Channel> reach(const std::string& name, std::string_view operation);

// The answer of this kind; a refusal is its error.
[[nodiscard]] Result<Message> expect(Channel& channel, Kind kind, Duration patience);

// Asks, and waits for `done`; then, if the supervisor is to `end`, for that.
template <typename T>
[[nodiscard]] Result<void> ask(Channel& channel, Kind kind, T value, Duration patience, bool end);
[[nodiscard]] Result<void> await_done(Channel& channel, Duration patience, bool end);

template <typename T>
Result<void> ask(Channel& channel, Kind kind, T value, Duration patience, bool end) {
  auto sent = channel.send(kind, std::move(value), kAnswer);
  // Who is refused may find the connection closed: then what was said counts.
  if (!sent && sent.error().code != ErrorCode::closed) return sent;
  return await_done(channel, patience, end);
}

}  // namespace cordon::app::sandbox
