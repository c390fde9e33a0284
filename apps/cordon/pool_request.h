// A request as it is sent to a pool: nothing in it depends on who reads it any more. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cordon/request.h"

namespace cordon::app::pool {

// Why this request cannot be sent to a pool; empty: it can.
[[nodiscard]] std::string why_not_carried(const Request& request);

// `request` with `limits` (all of them, defaults included), with `cwd` as its directory unless it
// has another, and with the variables that it passes on taken from `environment` ("NAME=value").
//
// HOME and TMPDIR stay to be passed on where it runs, for a sandbox without such a directory sees
// /tmp instead: whoever sends this makes sure that they are the same there. The limit of the output
// stays behind: whoever reads the output keeps it.
[[nodiscard]] Request for_pool(Request request, const Limits& limits, const std::string& cwd,
                               std::span<const std::string_view> environment);

}  // namespace cordon::app::pool
