// "Did you mean": the nearest of a few known words.
#pragma once

#include <span>
#include <string_view>

namespace cordon::base {

// The entry of `known` that is a typing error or two away from `word`, or "" when none is near.
[[nodiscard]] std::string_view nearest(std::string_view word,
                                       std::span<const std::string_view> known);

}  // namespace cordon::base
