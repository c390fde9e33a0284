// Sandboxes that are made when they are asked for.
#include "escape/place.h"

namespace cordon::escape {

const Place kPlace{
    .make_manager = []() -> Result<std::unique_ptr<Manager>> { return linux_manager(); }};

}  // namespace cordon::escape
