#include "mcp/bridge/rewrite.h"

#include <algorithm>

#include "base/json_text.h"
#include "mcp/json_view.h"

namespace cordon::mcp {

std::string edited(std::string_view text, std::vector<Edit> edits) {
  std::ranges::sort(edits, {}, [](const Edit& edit) { return edit.part.data(); });
  std::string result;
  std::size_t done = 0;
  for (const Edit& edit : edits) {
    const auto at = static_cast<std::size_t>(edit.part.data() - text.data());
    result += text.substr(done, at - done);
    result += edit.text;
    done = at + edit.part.size();
  }
  result += text.substr(done);
  return result;
}

std::string with_members(std::string_view object, const NewMembers& members) {
  std::string result(object.substr(0, object.rfind('}')));
  bool empty = !Members(object).next();
  for (const auto& [name, value] : members) {
    if (member(object, name)) continue;
    if (!empty) result += ',';
    empty = false;
    result += base::json_text(name);
    result += ':';
    result += value;
  }
  result += '}';
  return result;
}

std::string without_members(std::string_view object, const std::vector<std::string_view>& names) {
  std::string result = "{";
  Members members(object);
  while (const auto one = members.next()) {
    if (std::ranges::find(names, one->name) != names.end()) continue;
    if (result.size() > 1) result += ',';
    result += base::json_text(one->name);
    result += ':';
    result += one->value;
  }
  result += '}';
  return result;
}

}  // namespace cordon::mcp
