#include "peers/chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace cordon::bench {
namespace {

constexpr double kMilli = 1e3;
constexpr int kWidth = 720;
constexpr int kTop = 64;
constexpr int kRow = 32;
constexpr int kBarHeight = 20;
constexpr int kBarsFrom = 110;
constexpr int kBarsWidth = 440;  // the rest is for the value of the longest

// A page's background shows through; a viewer in dark mode gets light letters.
constexpr const char* kStyle = R"(<style>
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .small { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
  }
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

std::string value_of(const Bar& bar) {
  if (bar.p50 <= 0) return "not available";
  return fmt::format("{:.2f} ms ({:.1f} × bare)", bar.p50 * kMilli, bar.ratio);
}

}  // namespace

std::string svg_chart(const std::string& title, const std::string& subtitle,
                      const std::vector<Bar>& bars) {
  const int height = kTop + kRow * static_cast<int>(bars.size()) + 8;
  double longest = 0;
  for (const Bar& bar : bars) longest = std::max(longest, bar.p50);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\">\n<title>{2}</title>\n{3}"
      "<text class=\"title\" x=\"8\" y=\"24\">{2}</text>\n"
      "<text class=\"small\" x=\"8\" y=\"44\">{4}</text>\n",
      kWidth, height, escaped(title), kStyle, escaped(subtitle));
  int y = kTop;
  for (const Bar& bar : bars) {
    const double length = longest > 0 ? std::max(1.0, kBarsWidth * bar.p50 / longest) : 0;
    const double shown = bar.p50 > 0 ? length : 0;
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kBarsFrom - 10,
                       y + 15, escaped(bar.name));
    svg += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" rx=\"2\"/>\n",
        bar.ours ? "ours" : "bar", kBarsFrom, y, shown, kBarHeight);
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", kBarsFrom + shown + 8, y + 15,
                       escaped(value_of(bar)));
    y += kRow;
  }
  return svg + "</svg>\n";
}

std::string markdown_table(const std::vector<Bar>& bars) {
  std::string table =
      "| command | p50 | p99 | p50 to bare | what it lacks beside `cordon run` |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const Bar& bar : bars) {
    if (bar.p50 <= 0) {
      table += fmt::format("| {} | | | | not available: {} |\n", bar.name, bar.note);
    } else {
      table += fmt::format("| {} | {:.2f} ms | {:.2f} ms | {:.2f} | {} |\n", bar.name,
                           bar.p50 * kMilli, bar.p99 * kMilli, bar.ratio, bar.note);
    }
  }
  return table;
}

}  // namespace cordon::bench
