// The command's end of the connection to a pool.
#pragma once

#include <csignal>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "pool_channel.h"

namespace cordon::app::pool {

// How long the command waits for a service to answer what it answers at once.
inline constexpr Duration kAnswer = std::chrono::seconds(10);

// What HOME and the like are, so that none and an empty one differ.
[[nodiscard]] std::string variable(const char* name);

// Errors: not_found, when no service runs; those of Place and Channel; a refusal.
[[nodiscard]] Result<Channel> connect();
[[nodiscard]] Result<ServiceStatus> ask_status();
// Returns when the service is gone.
[[nodiscard]] Result<void> ask_to_stop(Duration grace);

// Asks for a place for one program, for up to `patience`. At once after connecting: the service
// does not wait for long.
[[nodiscard]] Result<void> ask_for_place(Channel& channel, Duration patience);
// Once there is one, a program may be run on the connection. Waits for it up to `patience`, and no
// longer than until one of `signals`, which are blocked, is pending. Nothing was run if it fails.
[[nodiscard]] Result<void> await_place(Channel& channel, Duration patience,
                                       const sigset_t& signals);

// The answer of this kind; a refusal, and any other, is an error.
[[nodiscard]] Result<Message> expect(Channel& channel, Kind kind, Duration patience);

}  // namespace cordon::app::pool
