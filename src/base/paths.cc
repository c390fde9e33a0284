#include "base/paths.h"

#include <algorithm>
#include <array>
#include <utility>

namespace cordon::base {

std::optional<std::string> normalise(std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  std::string out;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (part == "..") return std::nullopt;
    if (part.empty() || part == ".") continue;
    out += '/';
    out += part;
  }
  return out.empty() ? "/" : out;
}

bool at_or_below(std::string_view path, std::string_view top) {
  return path == top || strictly_below(path, top);
}

bool strictly_below(std::string_view path, std::string_view top) {
  if (top == "/") return path != "/";
  return path.size() > top.size() && path.starts_with(top) && path[top.size()] == '/';
}

bool mounted_before(std::string_view a, std::string_view b) {
  const auto depth = [](std::string_view path) { return std::ranges::count(path, '/'); };
  return std::pair(depth(a), a) < std::pair(depth(b), b);
}

std::span<const std::string_view> system_directories() {
  static constexpr std::array<std::string_view, 7> kAll = {"/usr",   "/bin",   "/sbin",  "/lib",
                                                           "/lib32", "/lib64", "/libx32"};
  return kAll;
}

bool in_system_directory(std::string_view path) {
  return std::ranges::any_of(system_directories(),
                             [&](std::string_view top) { return at_or_below(path, top); });
}

}  // namespace cordon::base
