// One name for what was asked for.
#pragma once

#include <string>

#include "cordon/request.h"

namespace cordon::audit {

// The request as JSON, always in the same order: equal requests give equal text, and requests that
// differ in anything else than what is named here give different text. It has the names of
// variables and secrets and never their values, the digest of the arguments and never the
// arguments, the kind of stdin and never its bytes, no number of a descriptor, and not who may
// cancel the run.
[[nodiscard]] std::string canonical_request(const Request& request);

// SHA-256 of that: 64 digits.
[[nodiscard]] std::string request_digest(const Request& request);

}  // namespace cordon::audit
