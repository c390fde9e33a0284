// Measurements of one thing, and the statistics of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace cordon::bench {

class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  // The value below which a share `q` of them lies: 0.5 is the median.
  [[nodiscard]] double quantile(double q) const;
  [[nodiscard]] double p50() const { return quantile(0.5); }
  [[nodiscard]] double p99() const { return quantile(0.99); }

 private:
  std::vector<double> values_;
};

// Seconds that `work` takes.
template <typename Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Processor time this thread has used so far, in seconds: unlike wall-clock time it is not much
// longer on a busy machine.
[[nodiscard]] double processor_seconds();

// Runs `a` and `b` in turns, `group` times each before the other's turn; who begins alternates too.
// So both see the same machine, whatever else it is doing.
template <typename A, typename B>
void interleave(std::size_t rounds, std::size_t group, const A& a, const B& b) {
  for (std::size_t round = 0; round < rounds; ++round) {
    const bool a_first = round % 2 == 0;
    for (std::size_t turn = 0; turn < 2; ++turn) {
      for (std::size_t i = 0; i < group; ++i) {
        if ((turn == 0) == a_first) {
          a();
        } else {
          b();
        }
      }
    }
  }
}

}  // namespace cordon::bench
