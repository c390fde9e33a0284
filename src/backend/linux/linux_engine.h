// Long-lived sandboxes of this backend (supervise/container.h).
#pragma once

#include <memory>

#include "backend/linux/linux_backend.h"
#include "cordon/error.h"
#include "supervise/container.h"

namespace cordon::linux_backend {

// Error: unsupported where sandboxes cannot be made, with the reason and what to do.
[[nodiscard]] Result<std::unique_ptr<supervise::Engine>> make_engine();
// The same, with guards left out.
[[nodiscard]] Result<std::unique_ptr<supervise::Engine>> make_engine(Weakened weakened);

}  // namespace cordon::linux_backend
