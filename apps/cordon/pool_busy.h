// What a client is told that gets no place in a pool.
#pragma once

#include <string>

#include "cordon/clock.h"
#include "pool_slots.h"

namespace cordon::app::pool {

// How many are before it, why it does not wait (any longer), and what to do. For the answers full,
// hopeless, late and failed. Pure.
[[nodiscard]] std::string why_busy(const Slots::Answer& answer, std::uint64_t places,
                                   Duration patience);
// There are so many connections already that it is not even asked what it wants.
[[nodiscard]] std::string why_no_conversation(std::uint64_t connections);

}  // namespace cordon::app::pool
