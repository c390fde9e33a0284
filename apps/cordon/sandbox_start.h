// Starting a sandbox and its supervisor, for create and restore.
#pragma once

#include <string>
#include <vector>

#include "cordon/sandbox.h"
#include "sandbox_options.h"

namespace cordon::app::sandbox {

struct StartAsk {
  Line line;                             // name, backend, request, policies
  std::string image{};                   // to restore from; empty: create
  std::vector<SandboxState> replaces{};  // whose name may be taken over
};

// Returns when the main program runs, having told the name on stdout, or why it does not on stderr.
// The exit status.
[[nodiscard]] int start(StartAsk ask);

}  // namespace cordon::app::sandbox
