// What in a policy stands in the way of something that a program was refused. Pure.
#pragma once

#include <vector>

#include "cordon/outcome.h"
#include "policy/policy.h"

namespace cordon::policy {

// The lines that would refuse to ask for it by the option that the denial names: all of them would
// have to change. None: the option alone is enough.
[[nodiscard]] std::vector<Place> obstacles(const Policy& policy, const Denial& denial);

}  // namespace cordon::policy
