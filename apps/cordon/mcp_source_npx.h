// `npx PACKAGE` where there is no network.
#pragma once

#include <string>

#include "cordon/request.h"

namespace cordon::app {

// If the program is npx, has no network, and the package is installed (for all by `npm -g`, or in
// the cache of npx from an earlier time), the request runs the package itself from now on. Else
// what is to be said about it: npx, uvx and their like fetch what they run. Empty: nothing.
[[nodiscard]] std::string run_without_fetching(Request& request);

}  // namespace cordon::app
