// What a policy says about the tools of an MCP server: which may be called, and with which
// arguments. Plain data, and the judgement of names; arguments are judged by
// mcp/tools/tool_policy.h.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "policy/place.h"

namespace cordon::policy {

using ArgumentValue = std::variant<std::string, std::int64_t, double, bool>;

// What one argument of a call has to be. Everything that is set must hold.
struct ArgumentCondition {
  Placed<std::string> at{};         // as it was written, for people
  std::vector<std::string> path{};  // the names that lead to it; "*": each of them
  std::optional<std::vector<ArgumentValue>> one_of{};
  std::optional<std::string> matches{};  // a text; "*" stands for any characters
  std::optional<double> min{};           // a number
  std::optional<double> max{};
  std::optional<std::uint64_t> min_length{};  // a text, in characters
  std::optional<std::uint64_t> max_length{};
  std::optional<std::vector<std::string>> beneath{};  // a path at or below one of these
  bool absent = false;                                // it must not be there
  bool optional = false;                              // it may be missing
};

// A tool that may be called, if all of this holds.
struct ToolRule {
  Placed<std::string> name{};  // or a glob
  std::vector<ArgumentCondition> arguments{};
};

struct ToolRules {
  Place place{};
  std::optional<Placed<std::vector<Placed<std::string>>>> allow{};  // names and globs
  std::optional<Placed<std::vector<Placed<std::string>>>> deny{};   // these win
  std::vector<ToolRule> rules{};
  Place rules_place{};

  // Whether only what is listed may be called.
  [[nodiscard]] bool lists() const { return allow.has_value() || !rules.empty(); }
};

struct ToolRefusal {
  Place decided_by{};
  std::string why{};  // "is denied by site.toml:3"
};

// Nothing: `name` may be called, as far as names go. A name that is long or has more than the
// characters of ASCII that can be seen is allowed only by a list that has exactly it: two readers
// could take it for different ones.
[[nodiscard]] std::optional<ToolRefusal> refuse_tool(const ToolRules& rules, std::string_view name);

// The same for all names that a reader could take for the same one who does not tell capital from
// small letters.
[[nodiscard]] std::string folded(std::string_view name);

inline constexpr std::size_t kLongestToolName = 256;

}  // namespace cordon::policy
