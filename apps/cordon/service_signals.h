// How a service is told to end.
#pragma once

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::app::service {

// SIGTERM and SIGINT as something to read, in every thread that is made from now on. `stage` is for
// the error.
[[nodiscard]] Result<base::Fd> take_signals(const char* stage);

}  // namespace cordon::app::service
