// The comparison as a picture and as a table, both to be shown in documents.
#pragma once

#include <string>
#include <vector>

namespace cordon::bench {

struct Bar {
  std::string name;
  double p50 = 0;  // seconds; 0: not available
  double p99 = 0;
  double ratio = 0;    // to the first bar's p50
  bool ours = false;   // drawn to be seen first
  std::string note{};  // beside the figures, or why there are none
};

// Horizontal bars of the p50s from zero, as SVG that can be read on a light and a dark page.
[[nodiscard]] std::string svg_chart(const std::string& title, const std::string& subtitle,
                                    const std::vector<Bar>& bars);

// One row for each bar, as Markdown.
[[nodiscard]] std::string markdown_table(const std::vector<Bar>& bars);

}  // namespace cordon::bench
