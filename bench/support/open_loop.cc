#include "support/open_loop.h"

#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

namespace cordon::bench {
namespace {

using Clock = std::chrono::steady_clock;
// For all servers to be there before the first one comes.
constexpr auto kHeadStart = std::chrono::milliseconds(20);

}  // namespace

std::vector<double> arrivals(double rate, double seconds, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> gap(rate);
  std::vector<double> all;
  for (double at = gap(random); at < seconds; at += gap(random)) all.push_back(at);
  return all;
}

std::vector<double> open_loop(const std::vector<double>& arrivals, std::size_t servers,
                              const std::function<void(std::size_t)>& serve) {
  std::vector<double> took(arrivals.size());
  std::atomic<std::size_t> next = 0;
  const Clock::time_point begin = Clock::now() + kHeadStart;
  const auto work = [&] {
    ::prctl(PR_SET_TIMERSLACK, 1UL);  // else the kernel may let an arrival wait by itself
    for (std::size_t i = next++; i < arrivals.size(); i = next++) {
      const auto arrival = begin + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(arrivals[i]));
      std::this_thread::sleep_until(arrival);
      serve(i);
      took[i] = std::chrono::duration<double>(Clock::now() - arrival).count();
    }
  };
  std::vector<std::jthread> threads;
  threads.reserve(servers);
  for (std::size_t i = 0; i < servers; ++i) threads.emplace_back(work);
  threads.clear();  // joins them
  return took;
}

}  // namespace cordon::bench
