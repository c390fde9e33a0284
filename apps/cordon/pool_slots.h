// How many programs run at once through a pool, and who is next: first come, first served, up to a
// bound, and never longer than each is ready to wait. Whoever would foreseeably wait longer is told
// so at once. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "cordon/clock.h"
#include "pool_pace.h"
#include "wake.h"

namespace cordon::app::pool {

class Slots {
 public:
  // Both at least 1.
  Slots(std::uint64_t places, std::uint64_t most_waiting)
      : places_(places), most_waiting_(most_waiting) {}

  enum class Got : std::uint8_t {
    place,     // give it back by release()
    full,      // as many wait as may
    hopeless,  // patience would run out, at the pace of late
    late,      // patience has run out
    gone,      // the client is
    closing,   // there are no more places
    failed,    // there are no descriptors to wait with
  };
  struct Counts {
    std::uint64_t running = 0;
    std::uint64_t waiting = 0;
  };
  struct Answer {
    Got got = Got::place;
    Counts others{};       // when it was given
    Duration expected{0};  // hopeless: until there would be a place
  };
  // Waits for a place while `connection` stays as it is: whoever waits has nothing to say.
  [[nodiscard]] Answer acquire(int connection, Duration patience);
  // The place was held for so long.
  void release(Duration held);
  // From now on nobody gets a place.
  void close();

  [[nodiscard]] std::uint64_t places() const { return places_; }
  [[nodiscard]] Counts counts() const;

 private:
  struct Ticket {
    Wake called;
    bool admitted = false;
  };
  // Those under the lock. Nothing: there is a turn to wait for.
  [[nodiscard]] std::optional<Answer> answer_at_once(Duration patience);
  [[nodiscard]] Counts counts_now() const { return {.running = taken_, .waiting = queue_.size()}; }
  void admit();

  [[nodiscard]] static Got wait_for_turn(Ticket& ticket, int connection, Duration patience);

  const std::uint64_t places_;
  const std::uint64_t most_waiting_;
  mutable std::mutex mutex_;
  std::deque<Ticket*> queue_;
  std::uint64_t taken_ = 0;
  Pace pace_;
  bool closed_ = false;
};

}  // namespace cordon::app::pool
