// How a call to an MCP server is written down. Pure.
#pragma once

#include <string>

#include "cordon/audit.h"

namespace cordon::audit {

// "tools/call read_file: ok in 1.204 ms, 96 bytes asked, 310 answered"
[[nodiscard]] std::string describe(const Call& call);
// The same for programs. Names that are too long to be any are cut.
[[nodiscard]] std::string json_of(const Call& call);

}  // namespace cordon::audit
