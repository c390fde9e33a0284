// What --require asks for. Pure.
#pragma once

#include <string>
#include <vector>

#include "cordon/error.h"
#include "cordon/plan.h"

namespace cordon::app {

// Refuses unless every guarantee named is fully kept by the plan; the message names each that is
// not.
[[nodiscard]] Result<void> check_required(const std::vector<std::string>& required,
                                          const Plan& plan);

}  // namespace cordon::app
