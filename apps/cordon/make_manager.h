// The backend that an option names.
#pragma once

#include <memory>

#include "cordon/error.h"
#include "cordon/manager.h"
#include "run_options.h"

namespace cordon::app {

// On the backends that isolate the command's own limits (--help) are the defaults. Error:
// unsupported. "linux", "gvisor" or "posix".
[[nodiscard]] std::string_view backend_name(Backend backend);
// The one of that name, of those that have long-lived sandboxes: "linux", "gvisor".
[[nodiscard]] Backend backend_named(std::string_view name);
// Its limits for what no option asks for.
[[nodiscard]] Limits usual_limits(Backend backend);

[[nodiscard]] Result<std::unique_ptr<Manager>> make_manager(Backend backend);

}  // namespace cordon::app
