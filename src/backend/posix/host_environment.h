// The environment a program gets, out of the caller's own.
#pragma once

#include <string>
#include <vector>

#include "cordon/request.h"

namespace cordon::posix {

// "NAME=value" entries: the caller's variables that the request passes on, and those it sets.
[[nodiscard]] std::vector<std::string> environment_for(const Request& request);

}  // namespace cordon::posix
