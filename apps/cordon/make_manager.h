// The backend that an option names.
#pragma once

#include <memory>

#include "cordon/error.h"
#include "cordon/manager.h"
#include "run_options.h"

namespace cordon::app {

// On the linux backend the command's own limits (--help) are the defaults. Error: unsupported.
[[nodiscard]] Result<std::unique_ptr<Manager>> make_manager(Backend backend);

}  // namespace cordon::app
