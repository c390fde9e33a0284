// Pool: sandboxes made before they are asked for.
//
// Everything up to the program's exec has happened when a request comes: namespaces, mounts,
// control groups, filters, all verified. The request's own part (arguments, environment, streams,
// limits) is delivered, and the program runs. Each sandbox runs one program, and is made for that
// alone; only what a tenant's run has left clean may be part of another (tenant.h).
//
// A pool keeps ready what is asked for again and again; sandboxes are of one kind when they show
// the same of the host and isolate alike. What cannot be delivered to a sandbox that exists sends a
// request the ordinary way, and its Outcome says why (Outcome::launch, launch_note). All methods
// are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/request.h"

namespace cordon {

struct PoolOptions {
  std::size_t size = 8;                                  // kept ready at most, of all kinds
  std::uint64_t memory_bytes = std::uint64_t{64} << 20;  // that those may take
  Duration idle = std::chrono::minutes(5);  // a kind that nobody asked for so long is given up
};

struct PoolStats {
  std::size_t ready = 0;  // now
  std::size_t kinds = 0;  // of which some are kept ready
  std::size_t left = 0;   // by runs of tenants, for their next ones
  std::uint64_t memory_bytes = 0;
  std::uint64_t warm = 0;  // requests that found one
  std::uint64_t cold = 0;  // … and that did not
  std::uint64_t made = 0;
  std::uint64_t reused = 0;    // of those, with something of an earlier run of the same tenant
  std::uint64_t replaced = 0;  // had died, or showed what the host has no longer
  std::uint64_t given_up = 0;  // nobody asked for them, or there were too many
};

class Pool {
 public:
  // Error: unsupported, as of linux_manager(); invalid_argument.
  [[nodiscard]] static Result<std::unique_ptr<Pool>> make(const PoolOptions& options = {});
  // Kills and reaps everything.
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Its processes are launched warm where that is possible. Lives as long as the pool.
  [[nodiscard]] Manager& manager();
  // Returns when `count` sandboxes are ready for requests like this one. Errors: those of
  // Manager::create, unsupported where such a request cannot be launched warm,
  // resource_exhausted where `count` is more than the pool may hold.
  [[nodiscard]] Result<void> warm(const Request& like, std::size_t count);
  [[nodiscard]] PoolStats stats() const;

 private:
  struct State;
  explicit Pool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace cordon
