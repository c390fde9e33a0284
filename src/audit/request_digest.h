// One name for what was asked for.
#pragma once

#include <string>

#include "cordon/request.h"

namespace cordon::audit {

// The request as JSON, always in the same order: equal requests give equal text. It has the names
// of variables and never their values, the digest of the arguments and never the arguments, the
// kind of stdin and never its bytes.
[[nodiscard]] std::string canonical_request(const Request& request);

// SHA-256 of that: 64 digits.
[[nodiscard]] std::string request_digest(const Request& request);

}  // namespace cordon::audit
