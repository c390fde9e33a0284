// The environment a program will see: what the request sets, and what it lets through. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cordon/request.h"

namespace cordon::request {

// "NAME=value" entries. `host` is the caller's environment in the same form. A variable that the
// request sets wins over one that it passes, and so does one that a secret sets; secrets themselves
// are not here.
[[nodiscard]] std::vector<std::string> resolve_environment(const Request& request,
                                                           std::span<const std::string_view> host);

// `*` matches any run of characters, everything else itself.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace cordon::request
