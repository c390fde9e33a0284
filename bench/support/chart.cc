#include "support/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace cordon::bench {
namespace {

constexpr int kRow = 32;
constexpr double kBarHeight = 20;
constexpr double kBarsFrom = 110;
constexpr double kBarsWidth = 400;  // the rest is for the value of the longest
constexpr double kBaseline = 15;    // of letters, below the upper edge of their row

// Where lines are drawn; to the right of it are their names.
constexpr double kLeft = 70;
constexpr double kRight = 580;
constexpr double kUpper = Picture::kTop + 16;
constexpr double kLower = 380;
constexpr int kHeight = 430;
constexpr double kApart = 16;    // names that would overlap
constexpr double kMargin = 1.2;  // times the highest value, and below the lowest

// A range of values, laid out between two places.
class Scale {
 public:
  Scale(double least, double most, double from, double to)
      : least_(std::log(least)), most_(std::log(most)), from_(from), to_(to) {}
  [[nodiscard]] double at(double value) const {
    if (most_ <= least_) return from_;
    return from_ + (to_ - from_) * (std::log(value) - least_) / (most_ - least_);
  }

 private:
  double least_, most_, from_, to_;
};

struct Range {
  double least = std::numeric_limits<double>::max();
  double most = 0;
  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

struct Name {
  double y = 0;
  const Line* line = nullptr;
};

// At the right end of each line, moved down where two would overlap.
void write_names(Picture& picture, const std::vector<Line>& lines, const Scale& y) {
  std::vector<Name> names;
  for (const Line& line : lines) {
    if (!line.points.empty()) names.push_back({y.at(line.points.back().y) + 5, &line});
  }
  std::ranges::sort(names, {}, &Name::y);
  double next = 0;
  for (Name& name : names) {
    name.y = std::max(name.y, next);
    next = name.y + kApart;
    picture.text({kRight + 12, name.y}, name.line->name);
  }
}

}  // namespace

std::string bar_chart(const std::string& title, const std::string& subtitle,
                      const std::vector<Bar>& bars) {
  Picture picture(Picture::kTop + kRow * static_cast<int>(bars.size()) + 8, title, subtitle);
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.length);
  double y = Picture::kTop;
  for (const Bar& bar : bars) {
    const double width = bar.length > 0 ? std::max(1.0, kBarsWidth * bar.length / longest) : 0;
    picture.text({kBarsFrom - 10, y + kBaseline}, bar.name, Picture::Align::right);
    picture.bar({kBarsFrom, y}, width, kBarHeight, bar.who);
    picture.text({kBarsFrom + width + 8, y + kBaseline}, bar.value);
    y += kRow;
  }
  return picture.svg();
}

std::string line_chart(const std::string& title, const std::string& subtitle, const Axis& x,
                       const Axis& y, const std::vector<Line>& lines) {
  Range across;
  Range upward;
  for (const Line& line : lines) {
    for (const Point& point : line.points) {
      across.include(point.x);
      upward.include(point.y);
    }
  }
  upward = {.least = upward.least / kMargin, .most = upward.most * kMargin};
  const Scale to_x(across.least, across.most, kLeft + 10, kRight - 10);
  const Scale to_y(upward.least, upward.most, kLower, kUpper);

  Picture picture(kHeight, title, subtitle);
  for (const double mark : y.marks) {
    if (mark < upward.least || mark > upward.most) continue;
    picture.rule({kLeft, to_y.at(mark)}, {kRight, to_y.at(mark)});
    picture.text({kLeft - 8, to_y.at(mark) + 4}, fmt::format("{:g}{}", mark, y.unit),
                 Picture::Align::right, true);
  }
  picture.text({8, kUpper - 8}, y.name, Picture::Align::left, true);
  for (const double mark : x.marks) {
    picture.text({to_x.at(mark), kLower + 20}, fmt::format("{:g}{}", mark, x.unit),
                 Picture::Align::middle, true);
  }
  picture.text({(kLeft + kRight) / 2, kLower + 40}, x.name, Picture::Align::middle, true);
  for (const Line& line : lines) {
    std::vector<Point> places;
    places.reserve(line.points.size());
    for (const Point& point : line.points) places.push_back({to_x.at(point.x), to_y.at(point.y)});
    picture.path(places, line.who, line.dashed);
    for (const Point& place : places) picture.dot(place, line.who);
  }
  write_names(picture, lines, to_y);
  return picture.svg();
}

}  // namespace cordon::bench
