#include "sandbox/transitions_docs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "sandbox/transitions.h"

namespace cordon::sandbox {
namespace {

std::string cell(const Row& row, const Effect& effect) {
  if (effect.kind == Effect::Kind::refused)
    return happens_by_itself(row.operation) ? "" : "refused";
  if (row.operation == Operation::remove) return "gone";
  if (effect.kind == Effect::Kind::nothing) return "nothing to do";
  std::string success(to_string(effect.success));
  if (effect.failure == effect.success) return success;
  return success + ", on error " + std::string(to_string(effect.failure));
}

// --- The picture.

struct Point {
  double x = 0;
  double y = 0;
};

constexpr double kHalfWidth = 68;
constexpr double kHalfHeight = 22;
constexpr double kLine = 16;

// The middle of each box, in the order of SandboxState.
constexpr std::array<Point, kStates> kPlaces = {
    {{84, 132}, {392, 132}, {700, 198}, {700, 66}, {392, 306}}};

Point place(SandboxState state) { return kPlaces[static_cast<std::size_t>(state)]; }

// Where the line from the middle of a box towards `to` leaves it.
Point border(Point from, Point to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double by_width = dx == 0 ? INFINITY : kHalfWidth / std::abs(dx);
  const double by_height = dy == 0 ? INFINITY : kHalfHeight / std::abs(dy);
  const double part = std::min(by_width, by_height);
  return {from.x + (dx * part), from.y + (dy * part)};
}

struct Arrow {
  SandboxState from{};
  SandboxState to{};
  std::vector<std::string> names;
};

void note(std::vector<Arrow>& arrows, SandboxState from, SandboxState to, const std::string& name) {
  const auto same = std::ranges::find_if(
      arrows, [&](const Arrow& arrow) { return arrow.from == from && arrow.to == to; });
  if (same != arrows.end()) {
    same->names.push_back(name);
  } else {
    arrows.push_back({.from = from, .to = to, .names = {name}});
  }
}

// All that changes the state, but for remove: that goes from anywhere.
std::vector<Arrow> all_arrows() {
  std::vector<Arrow> arrows;
  for (const Row& row : table()) {
    if (row.operation == Operation::remove) continue;
    for (const SandboxState from : kAllStates) {
      const Effect found = effect(row.operation, from);
      if (found.kind != Effect::Kind::done) continue;
      const std::string name(row.name);
      if (found.success != from) note(arrows, from, found.success, name);
      if (found.failure != from && found.failure != found.success) {
        note(arrows, from, found.failure, name + " fails");
      }
    }
  }
  return arrows;
}

// What is possible without changing the state, and not in every state.
std::vector<std::string> at_home(SandboxState state) {
  std::vector<std::string> names;
  for (const Row& row : table()) {
    const Effect found = effect(row.operation, state);
    const bool anywhere = std::ranges::none_of(
        row.effects, [](const Effect& e) { return e.kind == Effect::Kind::refused; });
    if (anywhere || found.kind == Effect::Kind::refused || found.success != state) continue;
    names.emplace_back(row.name);
  }
  return names;
}

std::string text(Point at, std::string_view style, std::string_view words) {
  return fmt::format("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", style, at.x, at.y,
                     words);
}

std::string lines(Point first, std::string_view style, const std::vector<std::string>& names) {
  std::string svg;
  for (const std::string& name : names) {
    svg += text(first, style, name);
    first.y += kLine;
  }
  return svg;
}

std::string drawn(const Arrow& arrow) {
  const Point from = border(place(arrow.from), place(arrow.to));
  const Point to = border(place(arrow.to), place(arrow.from));
  std::string svg = fmt::format(
      "<line x1=\"{:.0f}\" y1=\"{:.0f}\" x2=\"{:.0f}\" y2=\"{:.0f}\" marker-end=\"url(#tip)\"/>\n",
      from.x, from.y, to.x, to.y);
  const auto count = static_cast<double>(arrow.names.size());
  const Point middle = {(from.x + to.x) / 2, (from.y + to.y) / 2};
  const bool upright = from.x == to.x;
  const bool falling = to.y > from.y;
  if (upright) return svg + lines({middle.x + 8, middle.y + 4}, "right", arrow.names);
  // Above the line, or below one that falls.
  const double gap = from.y == to.y ? 10 : 18;  // a line that rises comes nearer
  const double first = falling ? middle.y + 22 : middle.y - gap - ((count - 1) * kLine);
  return svg + lines({middle.x - (falling ? 24 : 12), first}, "name", arrow.names);
}

std::string box(SandboxState state) {
  const Point at = place(state);
  std::string svg =
      fmt::format("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"8\"/>\n",
                  at.x - kHalfWidth, at.y - kHalfHeight, 2 * kHalfWidth, 2 * kHalfHeight);
  svg += text({at.x, at.y + 5}, "state", cordon::to_string(state));
  return svg;
}

constexpr std::string_view kHead =
    R"svg(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 784 384" width="784" height="384" role="img">
<title>The states of a sandbox and what leads from one to another</title>
<style>
  text { font: 13px system-ui, sans-serif; fill: #1f2328; text-anchor: middle; }
  .state { font-size: 15px; font-weight: 600; }
  .right { text-anchor: start; }
  .home { fill: #59636e; }
  rect { fill: #ddf4ff; stroke: #0969da; stroke-width: 1.5; }
  line { stroke: #59636e; stroke-width: 1.5; }
  path { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .home { fill: #9198a1; }
    rect { fill: #121d2f; stroke: #4493f8; }
    line { stroke: #9198a1; }
    path { fill: #9198a1; }
  }
</style>
<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 1 L10 5 L0 9 z"/></marker></defs>
)svg";

}  // namespace

std::string as_markdown() {
  std::string text = "| operation |";
  std::string rule = "| --- |";
  for (const SandboxState state : kAllStates) {
    text += " " + std::string(to_string(state)) + " |";
    rule += " --- |";
  }
  text += "\n" + rule + "\n";
  for (const Row& row : table()) {
    const bool itself = happens_by_itself(row.operation);
    text += "| " + (itself ? "*" + std::string(row.name) + "*" : std::string(row.name)) + " |";
    for (const Effect& effect : row.effects) {
      const std::string inside = cell(row, effect);
      text += inside.empty() ? " |" : " " + inside + " |";
    }
    text += "\n";
  }
  return text;
}

std::string as_svg() {
  std::string svg(kHead);
  for (const Arrow& arrow : all_arrows()) svg += drawn(arrow);
  for (const SandboxState state : kAllStates) svg += box(state);
  // Above its box: below it the way to `failed` begins.
  const auto names = at_home(SandboxState::running);
  const Point at = place(SandboxState::running);
  const double height = static_cast<double>(names.size()) * kLine;
  svg += lines({at.x, at.y - kHalfHeight - height + 6}, "home", names);
  svg += text({at.x, 372}, "home", "remove: from every state. ls, ps, logs: in every state.");
  return svg + "</svg>\n";
}

}  // namespace cordon::sandbox
