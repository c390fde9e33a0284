// What `cordon mcp inspect` prints. Pure.
#pragma once

#include <string>

#include "cordon/outcome.h"
#include "mcp_inspect_talk.h"

namespace cordon::app {

// Tables; safe for a terminal whatever the server says.
[[nodiscard]] std::string inspection_text(const Inspected& seen, bool colours);
// One object, with a newline.
[[nodiscard]] std::string inspection_json(const Inspected& seen, const Outcome& outcome);
// What a tool returned: its texts as they are, but made harmless on a terminal; anything else as
// JSON.
[[nodiscard]] std::string result_text(const std::string& result, bool terminal);
[[nodiscard]] bool tool_failed(const Inspected& seen);

}  // namespace cordon::app
