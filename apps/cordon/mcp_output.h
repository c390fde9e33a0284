// What becomes of the stdout of an MCP server: messages go to the client, and nothing else does.
#pragma once

#include "cordon/events.h"
#include "output.h"
#include "run_control.h"
#include "wake.h"

namespace cordon::app {

// A longer message is none: it would have to be kept whole.
inline constexpr std::uint32_t kLongestMessage = 16U << 20;

// How its output has to be cut for relay_messages().
[[nodiscard]] Output message_lines();

// Passes each line that is a message on to the command's stdout as it came; says on stderr what
// else was written, and copies stderr. Until the program's end. A client that is gone ends the run.
void relay_messages(EventStream events, RunControl& control, const Wake& abandoned,
                    const OutputTaps& taps);

}  // namespace cordon::app
