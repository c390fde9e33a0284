// A client at a program of the sandbox: output to it, input and signals from it.
#pragma once

#include <cstdint>

#include "sandbox_kept.h"
#include "sandbox_messages.h"
#include "wake.h"

namespace cordon::app::sandbox {

enum class Attention : std::uint8_t {
  attached,  // gets all output, and holds the program back until it does; gives input and signals
  follows,   // gets what is kept and what comes, but holds nobody up
  looks,     // gets what is kept
};

// Until the program has ended, the client is gone, or `end_now` is set. The program goes on without
// a client. Whether the client was told all there is to tell: of the end, unless it only looks.
bool attend(Channel& channel, Kept& kept, Attention attention, const Wake& end_now);

}  // namespace cordon::app::sandbox
