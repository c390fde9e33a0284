// User namespaces that only carry a mapping of ids: for a sandbox to enter, or for a mount.
#pragma once

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/isolation.h"

namespace cordon::linux_backend {

// A namespace in which `inside` stands for the host's `outside`, and nobody else exists. Needs a
// privileged caller. Thread-safe. Errors: resource_exhausted, not_permitted, system.
[[nodiscard]] Result<base::Fd> make_user_namespace(const User& inside, const User& outside);

}  // namespace cordon::linux_backend
