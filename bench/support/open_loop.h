// Requests that come when they come, whether or not the ones before them have been served: what a
// slow moment costs those who come in it is counted, not left out.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace cordon::bench {

// When they come, in seconds from the beginning: independently of each other, `rate` a second on
// average. The same seed gives the same ones.
[[nodiscard]] std::vector<double> arrivals(double rate, double seconds, unsigned seed);

// Calls `serve` with the number of each, in order and when it has come, up to `servers` of them at
// a time. Returns how long each took from its arrival until it was served, in seconds.
[[nodiscard]] std::vector<double> open_loop(const std::vector<double>& arrivals,
                                            std::size_t servers,
                                            const std::function<void(std::size_t)>& serve);

}  // namespace cordon::bench
