// Sandboxes that were ready before.
#include "escape/place.h"
#include "support/warm_manager.h"

namespace cordon::escape {

const Place kPlace{.make_manager = []() -> Result<std::unique_ptr<Manager>> {
  return support::WarmManager::make();
}};

}  // namespace cordon::escape
