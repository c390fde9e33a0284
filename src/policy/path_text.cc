#include "policy/path_text.h"

#include <algorithm>
#include <array>

namespace cordon::policy {

std::optional<std::string> normal_path(std::string_view path) {
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
  if (top == "/" || path == top) return true;
  return path.size() > top.size() && path.starts_with(top) && path[top.size()] == '/';
}

bool is_system_place(std::string_view path) {
  constexpr std::array<std::string_view, 7> kDirectories = {"/usr",   "/bin",   "/sbin",  "/lib",
                                                            "/lib32", "/lib64", "/libx32"};
  return std::ranges::any_of(kDirectories, [&](auto top) { return at_or_below(path, top); });
}

}  // namespace cordon::policy
