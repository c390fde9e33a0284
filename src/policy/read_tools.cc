// The tools of MCP servers: [mcp].
#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

std::optional<ArgumentValue> value_of(const Node& node) {
  switch (node.kind) {
    case Node::Kind::text:
      return node.text;
    case Node::Kind::integer:
      return node.integer;
    case Node::Kind::real:
      return node.real;
    case Node::Kind::boolean:
      return node.boolean;
    case Node::Kind::table:
    case Node::Kind::array:
    case Node::Kind::other:
      break;
  }
  return std::nullopt;
}

// equals and one_of.
void read_values(TableReader& reader, ArgumentCondition& condition) {
  const auto take = [&](std::string_view name, const Node& node) {
    if (!condition.one_of) condition.one_of.emplace();
    if (auto value = value_of(node)) {
      condition.one_of->push_back(*std::move(value));
    } else {
      reader.wrong_type(name, node, "a text, a number, true or false");
    }
  };
  const Node* const equals = reader.any("equals");
  const Node* const one_of = reader.any("one_of");
  if (equals != nullptr && one_of != nullptr) {
    return reader.wrong(one_of->place, "equals and one_of of the same argument: leave one out");
  }
  if (equals != nullptr) take("equals", *equals);
  if (one_of == nullptr) return;
  if (one_of->kind != Node::Kind::array || one_of->items.empty()) {
    return reader.wrong_type("one_of", *one_of, "a list with something in it");
  }
  for (const Node& item : one_of->items) take("one_of", item);
}

std::optional<double> read_number(TableReader& reader, std::string_view name) {
  const Node* const node = reader.any(name);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::integer) return static_cast<double>(node->integer);
  // "nan" is a number in TOML, and nothing is above or below it.
  if (node->kind == Node::Kind::real && node->real == node->real) return node->real;
  reader.wrong_type(name, *node, "a number");
  return std::nullopt;
}

std::optional<std::vector<std::string>> read_beneath(TableReader& reader,
                                                     const PathContext& context) {
  const Node* const node = reader.any("beneath");
  if (node == nullptr) return std::nullopt;
  std::vector<std::string> all;
  if (node->kind == Node::Kind::text) {
    all.push_back(checked_path(reader, {node->text, node->place}, context));
  } else if (const auto paths = path_list(reader, "beneath", context)) {
    for (const auto& path : paths->value) all.push_back(path.value);
  }
  if (all.empty()) reader.wrong(node->place, "beneath names no directory");
  return all;
}

std::string unescaped_step(std::string_view step) {
  std::string text;
  for (std::size_t at = 0; at < step.size(); ++at) {
    const bool escape = step[at] == '~' && at + 1 < step.size();
    text += escape ? (step[++at] == '1' ? '/' : '~') : step[at];
  }
  return text;
}

// "a.b" or, as a JSON pointer, "/a/b".
std::vector<std::string> steps_of(TableReader& reader, const std::string& name,
                                  const Place& place) {
  const bool pointer = name.starts_with('/');
  std::vector<std::string> steps;
  std::string_view rest = pointer ? std::string_view(name).substr(1) : name;
  for (bool more = true; more;) {
    const std::size_t end = std::min(rest.find(pointer ? '/' : '.'), rest.size());
    const std::string_view step = rest.substr(0, end);
    steps.push_back(pointer ? unescaped_step(step) : std::string(step));
    more = end < rest.size();
    rest.remove_prefix(more ? end + 1 : end);
    if (step.empty()) {
      reader.wrong(place, "\"" + base::printable(name) +
                              "\" leads to no argument: write \"name\", \"outer.inner\" or "
                              "\"/outer/inner\"");
    }
  }
  return steps;
}

ArgumentCondition read_condition(TableReader& outer, const Member& member,
                                 const PathContext& context) {
  TableReader reader(member.value, "mcp.tool.arguments." + member.name);
  ArgumentCondition condition{.at = {member.name, member.value.place}};
  condition.path = steps_of(reader, member.name, member.value.place);
  read_values(reader, condition);
  if (auto matches = reader.text("matches")) condition.matches = std::move(matches->value);
  condition.min = read_number(reader, "min");
  condition.max = read_number(reader, "max");
  if (const auto length = reader.count("min_length")) condition.min_length = length->value;
  if (const auto length = reader.count("max_length")) condition.max_length = length->value;
  condition.beneath = read_beneath(reader, context);
  if (const auto absent = reader.boolean("absent")) condition.absent = absent->value;
  if (const auto optional = reader.boolean("optional")) condition.optional = optional->value;
  const bool has_value = condition.one_of || condition.matches || condition.min || condition.max ||
                         condition.min_length || condition.max_length || condition.beneath;
  if (condition.absent && (has_value || condition.optional)) {
    reader.wrong(member.value.place, "an argument that must be absent has no other condition");
  }
  if (auto finished = reader.finish(); !finished) {
    outer.failed(std::move(finished).error());
  } else if (!condition.absent && !has_value) {
    outer.wrong(member.value.place,
                "no condition: give equals, one_of, matches, min, max, min_length, max_length, "
                "beneath or absent");
  }
  return condition;
}

ToolRule read_tool(TableReader& outer, const Node& table, const PathContext& context) {
  TableReader reader(table, "mcp.tool");
  ToolRule rule;
  if (auto name = reader.text("name")) {
    rule.name = *std::move(name);
  } else {
    reader.wrong(table.place, "a tool without \"name\": say which one it is about");
  }
  if (const Node* const arguments = reader.table("arguments")) {
    for (const Member& member : arguments->members) {
      rule.arguments.push_back(read_condition(reader, member, context));
    }
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  return rule;
}

void check_names(TableReader& reader, const TextList& names) {
  if (!names) return;
  for (const auto& name : names->value) {
    if (name.value.empty()) reader.wrong(name.place, "an empty text names no tool");
  }
}

}  // namespace

void read_tools(TableReader& outer, const PathContext& context, Ceiling& ceiling) {
  const Node* const table = outer.table("mcp");
  if (table == nullptr) return;
  TableReader reader(*table, "mcp");
  ToolRules tools{.place = table->place};
  tools.allow = reader.texts("allow_tools");
  tools.deny = reader.texts("deny_tools");
  check_names(reader, tools.allow);
  check_names(reader, tools.deny);
  if (const Node* const list = reader.any("tool")) {
    tools.rules_place = list->place;
    if (list->kind != Node::Kind::array) {
      reader.wrong_type("tool", *list, "a list of tables: write [[mcp.tool]]");
    } else {
      for (const Node& item : list->items) tools.rules.push_back(read_tool(reader, item, context));
    }
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  ceiling.tools = std::move(tools);
}

}  // namespace cordon::policy
