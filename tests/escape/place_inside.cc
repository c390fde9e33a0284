// One long-lived sandbox, in which each attack is a program.
#include "escape/place.h"
#include "support/inside_manager.h"

namespace cordon::escape {

const Place kPlace{.make_manager = []() -> Result<std::unique_ptr<Manager>> {
                     return support::InsideManager::make();
                   },
                   .others = 3};

}  // namespace cordon::escape
