// How many programs run at once through a pool, and who is next: first come, first served, up to a
// bound, and never longer than each is ready to wait. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <utility>

#include "cordon/clock.h"
#include "wake.h"

namespace cordon::app::pool {

class Slots {
 public:
  // Both at least 1.
  Slots(std::uint64_t places, std::uint64_t most_waiting)
      : places_(places), most_waiting_(most_waiting) {}

  enum class Got : std::uint8_t {
    place,    // give it back by release()
    full,     // as many wait as may
    late,     // patience has run out
    gone,     // the client is
    closing,  // there are no more places
  };
  // Waits for a place while `connection` stays as it is: whoever waits has nothing to say.
  [[nodiscard]] Got acquire(int connection, Duration patience);
  void release();
  // From now on nobody gets a place.
  void close();

  struct Counts {
    std::uint64_t running = 0;
    std::uint64_t waiting = 0;
  };
  [[nodiscard]] Counts counts() const;

 private:
  struct Ticket {
    Wake called;
    bool admitted = false;
  };
  [[nodiscard]] Got wait_for_turn(Ticket& ticket, int connection, Duration patience);
  // With the lock held: the next ones, as far as there are places.
  void admit();

  const std::uint64_t places_;
  const std::uint64_t most_waiting_;
  mutable std::mutex mutex_;
  std::deque<Ticket*> queue_;
  std::uint64_t taken_ = 0;
  bool closed_ = false;
};

}  // namespace cordon::app::pool
