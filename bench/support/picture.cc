#include "support/picture.h"

#include <fmt/format.h>

namespace cordon::bench {
namespace {

// A page's background shows through; a viewer in dark mode gets light letters.
constexpr const char* kStyle = R"(<style>
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .theirs { fill: #8c959f; stroke: #8c959f; }
  .ours { fill: #0969da; stroke: #0969da; }
  .rule { stroke: #d1d9e0; }
  path { stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .theirs { fill: #6e7681; stroke: #6e7681; }
    .ours { fill: #4493f8; stroke: #4493f8; }
    .rule { stroke: #3d444d; }
  }
  rect.theirs, rect.ours { stroke: none; }
  path.theirs, path.ours { fill: none; }
</style>
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

const char* name_of(Who who) { return who == Who::ours ? "ours" : "theirs"; }

const char* anchor_of(Picture::Align align) {
  switch (align) {
    case Picture::Align::left:
      return "start";
    case Picture::Align::middle:
      return "middle";
    case Picture::Align::right:
      return "end";
  }
  return "start";
}

}  // namespace

Picture::Picture(int height, const std::string& title, const std::string& subtitle)
    : svg_(fmt::format(
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
          "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}"
          "<text class=\"title\" x=\"8\" y=\"24\">{2}</text>\n"
          "<text class=\"small\" x=\"8\" y=\"44\">{4}</text>\n",
          kWidth, height, escaped(title), kStyle, escaped(subtitle))) {}

void Picture::text(Point at, const std::string& words, Align align, bool small) {
  svg_ +=
      fmt::format("<text{} x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n",
                  small ? " class=\"small\"" : "", at.x, at.y, anchor_of(align), escaped(words));
}

void Picture::bar(Point corner, double width, double height, Who who) {
  svg_ += fmt::format(
      "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"2\"/>\n",
      name_of(who), corner.x, corner.y, width, height);
}

void Picture::dot(Point at, Who who) {
  svg_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>\n", name_of(who),
                      at.x, at.y);
}

void Picture::path(const std::vector<Point>& points, Who who, bool dashed) {
  std::string steps;
  for (const Point& point : points) {
    steps += fmt::format("{}{:.1f} {:.1f}", steps.empty() ? "M" : " L", point.x, point.y);
  }
  svg_ += fmt::format("<path class=\"{}\"{} d=\"{}\"/>\n", name_of(who),
                      dashed ? " stroke-dasharray=\"5 4\"" : "", steps);
}

void Picture::rule(Point from, Point to) {
  svg_ += fmt::format(
      "<line class=\"rule\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", from.x,
      from.y, to.x, to.y);
}

}  // namespace cordon::bench
