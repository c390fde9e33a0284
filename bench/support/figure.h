// One row of the table that `make bench` prints.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace cordon::bench {

struct Figure {
  std::string name;
  std::string goal{};  // empty: for information
  std::string measured;
  std::string baseline{};
  std::optional<double> ratio{};  // measured / baseline
  std::size_t samples = 0;
  std::optional<bool> met{};  // empty: no goal
};

// Prints it as one line of tab-separated fields, which tools/bench collects.
void report(const Figure& figure);

// Ends the program with this message: a benchmark that cannot measure has no result.
[[noreturn]] void give_up(const std::string& why);

}  // namespace cordon::bench
