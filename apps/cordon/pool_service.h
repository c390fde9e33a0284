// The service behind `cordon pool`: listens on the socket of a place and runs what clients ask for,
// so many programs at once.
#pragma once

#include <cstdint>
#include <functional>

#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/error.h"
#include "service_place.h"

namespace cordon::app::pool {

struct ServiceOptions {
  std::uint64_t size = 0;  // programs at once
  Duration idle{0};        // ends by itself after so long without a client; 0: never
};

inline constexpr std::uint64_t kMostWaiting = 128;
inline constexpr Duration kStopGrace = std::chrono::seconds(10);

// Serves until somebody stops it: by a message, SIGTERM or SIGINT, or by leaving it idle. Then what
// runs may end within the grace it is given; what is left is killed, and nothing survives. `ready`
// is called once clients can connect. Call it while there is but one thread. Errors: the service
// could not be set up.
[[nodiscard]] Result<void> serve(const service::Place& place, const ServiceOptions& options,
                                 const std::function<void()>& ready);

}  // namespace cordon::app::pool
