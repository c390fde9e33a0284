// Where the attacks are made. The suite is linked once for each of place_*.cc.
#pragma once

#include <cstdint>
#include <memory>

#include "cordon/manager.h"

namespace cordon::escape {

struct Place {
  Result<std::unique_ptr<Manager>> (*make_manager)();
  // Processes beside the program in its sandbox: init; of a long-lived one, the nursery and the
  // main program too.
  std::uint64_t others = 1;

  [[nodiscard]] bool long_lived() const { return others > 1; }
};
extern const Place kPlace;

}  // namespace cordon::escape
