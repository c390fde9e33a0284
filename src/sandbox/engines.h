// Engines of long-lived sandboxes, by name.
#pragma once

#include <memory>
#include <string_view>

#include "cordon/error.h"
#include "supervise/container.h"

namespace cordon::sandbox {

// Errors: invalid_argument (there is no such engine), unsupported (not on this host, or not in this
// build; the message says what is missing).
[[nodiscard]] Result<std::unique_ptr<supervise::Engine>> make_engine(std::string_view name);

}  // namespace cordon::sandbox
