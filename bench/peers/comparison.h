// The comparison with peers as a picture and as a table, both to be shown in documents.
#pragma once

#include <string>
#include <vector>

namespace cordon::bench {

struct Compared {
  std::string name;
  double p50 = 0;  // seconds; 0: not available
  double p99 = 0;
  double ratio = 0;    // to the first one's p50
  bool ours = false;   // drawn to be seen first
  std::string note{};  // beside the figures, or why there are none
};

// Bars of the p50s, as SVG.
[[nodiscard]] std::string picture_of(const std::string& title, const std::string& subtitle,
                                     const std::vector<Compared>& all);

// One row for each, as Markdown.
[[nodiscard]] std::string markdown_table(const std::vector<Compared>& all);

}  // namespace cordon::bench
