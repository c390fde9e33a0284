// A picture for documents: SVG that can be read on a light and a dark page.
#pragma once

#include <string>
#include <vector>

namespace cordon::bench {

struct Point {
  double x = 0;
  double y = 0;
};

// Who is drawn: the reader is to see ours first.
enum class Who : unsigned char { ours, theirs };

class Picture {
 public:
  static constexpr int kWidth = 720;
  static constexpr int kTop = 64;  // below title and subtitle

  Picture(int height, const std::string& title, const std::string& subtitle);

  enum class Align : unsigned char { left, middle, right };
  void text(Point at, const std::string& words, Align align = Align::left, bool small = false);
  void bar(Point corner, double width, double height, Who who);
  void dot(Point at, Who who);
  void path(const std::vector<Point>& points, Who who, bool dashed);
  // In the background.
  void rule(Point from, Point to);

  [[nodiscard]] std::string svg() const { return svg_ + "</svg>\n"; }

 private:
  std::string svg_;
};

}  // namespace cordon::bench
