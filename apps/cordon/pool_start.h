// Starting the service of a pool, once.
#pragma once

#include <cstdint>

#include "pool_service.h"

namespace cordon::app::pool {

inline constexpr std::uint64_t kMostSize = 1024;

struct StartOptions {
  bool foreground = false;
  ServiceOptions service{};  // size 0: the usual one
};

// Says on stdout that it runs, or ran already. In the foreground returns when it has ended, else
// when it answers. Returns the exit status.
[[nodiscard]] int start(StartOptions options);

}  // namespace cordon::app::pool
