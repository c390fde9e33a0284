// A log is worth nothing where the program it tells of can write.
#pragma once

#include <string>

#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::audit {

// The write grant of the request that reaches `place`, or lies within it; null: none does.
[[nodiscard]] const Grant* grant_that_reaches(const std::string& place, const Request& request);

// Error: not_permitted, a write grant of the request reaches `directory`, or lies within it.
[[nodiscard]] Result<void> check_out_of_reach(const std::string& directory, const Request& request);

}  // namespace cordon::audit
