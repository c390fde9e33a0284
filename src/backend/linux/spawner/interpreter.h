// Carries out one section of a script, in the process that calls it.
#pragma once

#include "backend/linux/spawner/script.h"

namespace cordon::linux_backend::spawner {

// Does not return. A failing step is reported to kStatusFd and ends the process.
[[noreturn]] void run_section(Role role);

// To kStatusFd. False: the supervisor is not there to hear it.
bool send_report(const Report& report);

}  // namespace cordon::linux_backend::spawner
