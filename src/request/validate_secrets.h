// The part of validate() that is about secrets.
#pragma once

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::request {

// Names, sizes, and variables that would be set twice. No message has a part of a value.
[[nodiscard]] Result<void> validate_secrets(const Request& request);

}  // namespace cordon::request
