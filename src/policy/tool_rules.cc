#include "policy/tool_rules.h"

#include <algorithm>

#include "request/environment.h"

namespace cordon::policy {
namespace {

// The two characters beyond ASCII that are the capital or small form of one within.
constexpr std::string_view kKelvin = "\u212a";
constexpr std::string_view kLongS = "\u017f";

bool plain(std::string_view name) {
  return !name.empty() && name.size() <= kLongestToolName &&
         std::ranges::all_of(name, [](char c) { return c > ' ' && c <= '~'; });
}

const Placed<std::string>* find(const std::vector<Placed<std::string>>& list, const auto& matches) {
  const auto at = std::ranges::find_if(list, matches);
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

std::string folded(std::string_view name) {
  std::string text;
  text.reserve(name.size());
  while (!name.empty()) {
    if (name.starts_with(kKelvin)) {
      text += 'k';
      name.remove_prefix(kKelvin.size());
    } else if (name.starts_with(kLongS)) {
      text += 's';
      name.remove_prefix(kLongS.size());
    } else {
      const char c = name.front();
      text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      name.remove_prefix(1);
    }
  }
  return text;
}

std::optional<ToolRefusal> refuse_tool(const ToolRules& rules, std::string_view name) {
  if (rules.deny) {
    const std::string same = folded(name);
    const auto* no = find(rules.deny->value, [&](const Placed<std::string>& one) {
      return request::glob_matches(folded(one.value), same);
    });
    if (no != nullptr) return ToolRefusal{no->place, "is denied by " + to_string(no->place)};
  }
  const bool exactly_listed =
      rules.allow && find(rules.allow->value, [&](const Placed<std::string>& one) {
                       return one.value == name;
                     }) != nullptr;
  if (exactly_listed) return std::nullopt;
  if (!plain(name)) {
    return ToolRefusal{rules.place,
                       "has a name that is empty, too long or not plain ASCII, and is not in "
                       "allow_tools of " +
                           to_string(rules.place)};
  }
  if (!rules.lists()) return std::nullopt;
  const auto matches = [&](const Placed<std::string>& one) {
    return request::glob_matches(one.value, name);
  };
  if (rules.allow && find(rules.allow->value, matches) != nullptr) return std::nullopt;
  if (std::ranges::any_of(rules.rules, matches, &ToolRule::name)) return std::nullopt;
  const Place& place = rules.allow ? rules.allow->place : rules.rules_place;
  return ToolRefusal{place, "is not among those that " + to_string(place) + " allows"};
}

}  // namespace cordon::policy
