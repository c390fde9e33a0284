// Names that nobody can guess.
#pragma once

#include <string>

namespace cordon::mcp {

// 128 bits in hexadecimal digits; empty: the system gives none.
[[nodiscard]] std::string random_id();

}  // namespace cordon::mcp
