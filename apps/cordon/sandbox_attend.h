// What exec and connect have in common on the command's side.
#pragma once

namespace cordon::app::sandbox {

// All three streams of the command are terminals.
[[nodiscard]] bool interactive();

// A terminal that goes away ends the command, and leaves the program as it is. To be called after a
// SignalBlock was made, before there are threads.
void let_hangup_detach();

}  // namespace cordon::app::sandbox
