// Settings of the sandbox runtime (srt), which VS Code's mcp.json has below "sandbox", too: what
// can be said by grants is taken over, and all else is refused, so that nothing is weaker than it
// was written. Pure.
//
// There, everything may be read that is not denied; here nothing may that is not granted. So what
// is denied need not be granted, and "allowRead" is what has to be said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/isolation.h"

namespace cordon::mcp {

// `home` is what "~" stands for; may be empty. Errors: invalid_argument; unsupported for domains,
// sockets, patterns, and what is denied inside of what is allowed.
[[nodiscard]] Result<std::vector<Grant>> read_srt_policy(std::string_view text,
                                                         std::string_view file,
                                                         std::string_view home);

}  // namespace cordon::mcp
