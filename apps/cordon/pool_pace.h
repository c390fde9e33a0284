// How long the places of a pool were held of late, and what that means for who comes now.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cordon/clock.h"

namespace cordon::app::pool {

class Pace {
 public:
  void add(Duration held);

  // After how long the next one would have a place, with so many before it. Nothing: too few have
  // ended to tell. By the median: one program that runs for hours says nothing about the others.
  [[nodiscard]] std::optional<Duration> expected(std::uint64_t waiting, std::uint64_t places) const;

 private:
  static constexpr std::size_t kRemembered = 15;
  static constexpr std::size_t kFewest = 5;

  std::array<Duration, kRemembered> held_{};
  std::size_t count_ = 0;  // of all that were added
};

}  // namespace cordon::app::pool
