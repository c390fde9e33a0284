// What came of requests at several rates, as a picture and as a table, both to be shown in
// documents.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "support/samples.h"

namespace cordon::bench {

struct Side {
  Samples took;
  std::size_t warm = 0;
};

struct AtRate {
  double rate = 0;
  std::size_t rounds = 0;  // slices of each side
  Side ours{};
  Side bare{};
};

// p50 and p99 over the rate, ours and bare, as SVG. `load`: how busy the machine was.
[[nodiscard]] std::string picture_of(const std::vector<AtRate>& all, const std::string& load);

// One row for each rate, as Markdown.
[[nodiscard]] std::string markdown_table(const std::vector<AtRate>& all);

}  // namespace cordon::bench
