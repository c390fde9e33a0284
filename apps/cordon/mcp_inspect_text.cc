#include "mcp_inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "base/printable.h"
#include "concat.h"
#include "marks.h"
#include "mcp/json_view.h"

namespace cordon::app {
namespace {

constexpr std::size_t kWidest = 40;

std::string text_of(std::string_view object, std::string_view name) {
  return mcp::string_member(object, name).value_or("");
}

std::string first_line(const std::string& text) {
  return base::printable(std::string_view(text).substr(0, text.find('\n')));
}

bool has_text(std::string_view array, const std::string& text) {
  if (!mcp::is_array(array)) return false;
  mcp::Elements all(array);
  while (const auto each = all.next()) {
    if (mcp::is_string(*each) && mcp::unescaped(*each) == text) return true;
  }
  return false;
}

void add_name(std::string& to, const std::string& name, bool required) {
  to += concat(to.empty() ? "" : " ", required ? "" : "[", base::printable(name),
               required ? "" : "]");
}

// By a schema: those that may be left out in brackets.
std::string arguments_of_tool(std::string_view tool) {
  const auto schema = mcp::member(tool, "inputSchema");
  const auto all = schema ? mcp::member(*schema, "properties") : std::nullopt;
  if (!all || !mcp::is_object(*all)) return {};
  const std::string_view required = mcp::member(*schema, "required").value_or("");
  std::string text;
  mcp::Members each(*all);
  while (const auto one = each.next()) add_name(text, one->name, has_text(required, one->name));
  return text;
}

std::string arguments_of_prompt(std::string_view prompt) {
  const auto all = mcp::member(prompt, "arguments");
  if (!all || !mcp::is_array(*all)) return {};
  std::string text;
  mcp::Elements each(*all);
  while (const auto one = each.next()) {
    add_name(text, text_of(*one, "name"), mcp::member(*one, "required") == "true");
  }
  return text;
}

using Row = std::array<std::string, 3>;

std::string table(const Row& head, const std::vector<Row>& rows, bool colours) {
  if (rows.empty()) return {};
  std::array<std::size_t, 2> width{};
  for (std::size_t column = 0; column < width.size(); ++column) {
    width.at(column) = head.at(column).size();
    for (const Row& row : rows) {
      width.at(column) = std::max(width.at(column), std::min(row.at(column).size(), kWidest));
    }
  }
  const auto line = [&](const Row& row) {
    std::string text =
        fmt::format("{:<{}}  {:<{}}  {}", row[0], width[0], row[1], width[1], row[2]);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  };
  std::string text = "\n" + bold(line(head), colours) + "\n";
  for (const Row& row : rows) text += line(row) + "\n";
  return text;
}

std::string array_of(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text += concat(text.size() > 1 ? "," : "", item);
  return text + "]";
}

// A terminal must not get DEL and the C1 controls (C2 80 … C2 9F), which are only within strings.
std::string without_controls(std::string_view json) {
  std::string text;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const auto byte = static_cast<unsigned char>(json[at]);
    const auto next = static_cast<unsigned char>(at + 1 < json.size() ? json[at + 1] : 0);
    const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (c1 || byte == 0x7f) {
      text += fmt::format("\\u{:04x}", c1 ? next : byte);
      at += c1 ? 1 : 0;
    } else {
      text += json[at];
    }
  }
  return text;
}

std::string printable_lines(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all += base::printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string json_of(const mcp::ServerFacts& server) {
  base::JsonObject object;
  object.add("name", base::json_text(server.name));
  object.add("version", base::json_text(server.version));
  object.add("protocol", base::json_text(server.protocol));
  object.add("capabilities", server.capabilities);
  object.add("instructions", base::json_text_or_null(server.instructions));
  return object.str();
}

}  // namespace

std::string inspection_text(const Inspected& seen, bool colours) {
  if (!seen.server) return {};
  std::string text = concat("server: ", base::printable(seen.server->name), " ",
                            base::printable(seen.server->version), ", protocol ",
                            base::printable(seen.server->protocol), "\n");
  if (!seen.server->instructions.empty()) {
    text += concat("instructions: ", first_line(seen.server->instructions), "\n");
  }
  std::vector<Row> rows;
  rows.reserve(seen.tools.size());
  for (const std::string& tool : seen.tools) {
    rows.push_back({base::printable(text_of(tool, "name")), arguments_of_tool(tool),
                    first_line(text_of(tool, "description"))});
  }
  text += table({"TOOL", "ARGUMENTS", "DESCRIPTION"}, rows, colours);
  rows.clear();
  for (const std::string& each : seen.resources) {
    rows.push_back({base::printable(text_of(each, "uri")), base::printable(text_of(each, "name")),
                    first_line(text_of(each, "description"))});
  }
  text += table({"RESOURCE", "NAME", "DESCRIPTION"}, rows, colours);
  rows.clear();
  for (const std::string& each : seen.templates) {
    rows.push_back({base::printable(text_of(each, "uriTemplate")),
                    base::printable(text_of(each, "name")),
                    first_line(text_of(each, "description"))});
  }
  text += table({"RESOURCE TEMPLATE", "NAME", "DESCRIPTION"}, rows, colours);
  rows.clear();
  for (const std::string& each : seen.prompts) {
    rows.push_back({base::printable(text_of(each, "name")), arguments_of_prompt(each),
                    first_line(text_of(each, "description"))});
  }
  text += table({"PROMPT", "ARGUMENTS", "DESCRIPTION"}, rows, colours);
  return text;
}

std::string inspection_json(const Inspected& seen, const Outcome& outcome) {
  base::JsonObject object;
  object.add("schema", "1");
  object.add("server", seen.server ? json_of(*seen.server) : "null");
  if (seen.result) {
    object.add("result", *seen.result);
  } else {
    object.add("tools", array_of(seen.tools));
    object.add("resources", array_of(seen.resources));
    object.add("resource_templates", array_of(seen.templates));
    object.add("prompts", array_of(seen.prompts));
  }
  object.add("error", seen.failure ? base::json_text(seen.failure->message) : "null");
  const std::string end = to_json(outcome);
  object.add("denials", mcp::member(end, "denials").value_or("[]"));
  return without_controls(object.str()) + "\n";
}

std::string result_text(const std::string& result, bool terminal) {
  std::string text;
  const auto content = mcp::member(result, "content");
  if (content && mcp::is_array(*content)) {
    mcp::Elements all(*content);
    while (const auto each = all.next()) {
      const bool plain = mcp::string_member(*each, "type") == "text";
      const std::string said = plain ? text_of(*each, "text") : without_controls(*each);
      text += terminal ? printable_lines(said) : said;
      if (!text.ends_with('\n')) text += '\n';
    }
  }
  return text.empty() ? without_controls(result) + "\n" : text;
}

bool tool_failed(const Inspected& seen) {
  return seen.result && mcp::member(*seen.result, "isError") == "true";
}

}  // namespace cordon::app
