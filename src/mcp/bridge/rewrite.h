// Small changes to JSON text that is otherwise passed on as it came. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cordon::mcp {

struct Edit {
  std::string_view part;  // of the text that is edited
  std::string text;       // in its place
};

// The parts must not overlap.
[[nodiscard]] std::string edited(std::string_view text, std::vector<Edit> edits);

// The object with these members at its end, except for names it has already. Values are JSON.
using NewMembers = std::vector<std::pair<std::string_view, std::string>>;
[[nodiscard]] std::string with_members(std::string_view object, const NewMembers& members);
// The object without the members of these names.
[[nodiscard]] std::string without_members(std::string_view object,
                                          const std::vector<std::string_view>& names);

}  // namespace cordon::mcp
