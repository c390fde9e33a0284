// Charts of figures, as SVG for documents.
#pragma once

#include <string>
#include <vector>

#include "support/picture.h"

namespace cordon::bench {

struct Bar {
  std::string name;
  double length = 0;  // 0: none is drawn
  std::string value;  // beside it
  Who who = Who::theirs;
};

// Horizontal bars from zero.
[[nodiscard]] std::string bar_chart(const std::string& title, const std::string& subtitle,
                                    const std::vector<Bar>& bars);

struct Line {
  std::string name;
  std::vector<Point> points;  // all values above 0, from left to right
  Who who = Who::theirs;
  bool dashed = false;
};

struct Axis {
  std::string name;
  std::vector<double> marks;  // where values are written beside it
  std::string unit{};         // after each of them
};

// Lines over a common x; both axes are logarithmic, and y covers what there is to show.
[[nodiscard]] std::string line_chart(const std::string& title, const std::string& subtitle,
                                     const Axis& x, const Axis& y, const std::vector<Line>& lines);

}  // namespace cordon::bench
