// One line for a person about how a run ended. Pure.
#pragma once

#include <string>

#include "cordon/outcome.h"

namespace cordon::app {

// Empty when there is nothing to add to the program's own output: it exited, or died of a signal
// that users expect (SIGINT, SIGPIPE).
[[nodiscard]] std::string verdict_line(const Outcome& outcome);

}  // namespace cordon::app
