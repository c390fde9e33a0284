// cordon mcp wrap and cordon mcp unwrap: a client's servers under Cordon, and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cordon::app {

enum class WrapVerb : std::uint8_t { wrap, unwrap };

// `arguments` is what follows the verb. Returns the exit status.
[[nodiscard]] int mcp_wrap(WrapVerb verb, std::vector<std::string> arguments);

}  // namespace cordon::app
