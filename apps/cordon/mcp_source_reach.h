// What a server's program needs to see of where it is installed.
#pragma once

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::app {

// Looks the program up as its caller would, and grants it read-only what mcp/source/runtime_reach.h
// says. A program that cannot be found is left to the run to complain of.
void grant_runtime(Request& request);

}  // namespace cordon::app
