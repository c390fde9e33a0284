// One connection to the service of a pool, from the look at who it is to the end of its run.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "cordon/manager.h"
#include "pool_channel.h"
#include "pool_slots.h"
#include "service_peer.h"
#include "wake.h"

namespace cordon::app::pool {

// What the conversations of a service share. Everything in it is thread-safe.
struct Shared {
  Manager& manager;
  Slots& slots;
  const service::Surroundings& own;
  const Wake& end_now;  // what still runs is to be killed
  std::function<ServiceStatus()> status;
  // Returns at once. The channel is closed when nothing of the service is left.
  std::function<void(Duration grace, Channel channel)> stop;
  std::atomic<std::uint64_t> served = 0;
  std::atomic<std::uint64_t> refused = 0;
};

// Talks until the connection ends. Never fails: what goes wrong is told to the client.
void converse(Channel channel, Shared& shared);

}  // namespace cordon::app::pool
