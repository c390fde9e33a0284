// How many requests ended how, and what is told about that on the way. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "cordon/clock.h"

namespace cordon::app {

class Tally {
 public:
  // `verdict` is the name of one.
  void add(std::string_view verdict, std::optional<int> exit_code);
  // A request that was not tried.
  void add_error() { ++counts_["not run"]; }

  [[nodiscard]] std::uint64_t total() const;
  // Each of them exited with 0.
  [[nodiscard]] bool all_well() const;
  // "480 exited with 0, 15 exited otherwise, 5 timeout".
  [[nodiscard]] std::string text() const;

 private:
  std::map<std::string, std::uint64_t, std::less<>> counts_;  // by what text() calls them
};

struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::uint64_t done_before = 0;  // by a batch that was stopped
  Duration elapsed{0};            // since this one began
};

// "[####······] 4/10  12/s  1s left  4 exited with 0", at most `columns` wide.
[[nodiscard]] std::string progress_line(const Progress& progress, const Tally& tally,
                                        std::size_t columns);
// "500 requests in 12.3s (40/s): 480 exited with 0, …".
[[nodiscard]] std::string summary_line(const Progress& progress, const Tally& tally);

}  // namespace cordon::app
