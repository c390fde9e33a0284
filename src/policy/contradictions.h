// Files that cannot both hold.
#pragma once

#include "cordon/error.h"
#include "policy/policy.h"

namespace cordon::policy {

// A variable set to two values, two audit directories or keys, a secret that an earlier file does
// not have or takes from elsewhere: errors that name both places. Were the later one to win, it
// would undo the earlier; were it ignored, its author would not know.
[[nodiscard]] Result<void> check_contradictions(const Policy& policy);

}  // namespace cordon::policy
