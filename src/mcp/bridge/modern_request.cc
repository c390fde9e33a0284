#include "mcp/bridge/modern_request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "base/json_text.h"
#include "mcp/bridge/core.h"
#include "mcp/versions.h"

namespace cordon::mcp {
namespace {

// Methods of earlier revisions that this one has not.
constexpr auto kRemoved = std::to_array<std::string_view>(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"});

// The parameter that Mcp-Name repeats.
std::string_view name_parameter(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel")
    return "taskId";
  return {};
}

std::optional<Refusal> mismatch(std::string message) {
  return Refusal{.status = 400, .code = kHeaderMismatch, .message = std::move(message), .data = {}};
}

std::optional<Refusal> invalid(std::string message) {
  return Refusal{.status = 400, .code = kInvalidParams, .message = std::move(message), .data = {}};
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t padding = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+') value = 62;
    if (c == '/') value = 63;
    if (c == '=') {
      ++padding;
      value = 0;
    } else if (padding > 0) {
      return std::nullopt;
    }
    if (value < 0 || padding > 2) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    if (++count % 4 == 0) {
      bytes += static_cast<char>((bits >> 16U) & 0xFFU);
      bytes += static_cast<char>((bits >> 8U) & 0xFFU);
      bytes += static_cast<char>(bits & 0xFFU);
      bits = 0;
    }
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

bool same_number(std::string_view one, std::string_view other) {
  double first = 0;
  double second = 0;
  const auto read = [](std::string_view text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  };
  return read(one, first) && read(other, second) && first == second;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<Refusal> check_version(const Ask& ask, const Message& request) {
  const auto meta = member(request.params(), "_meta");
  if (!meta || !is_object(*meta)) return invalid("_meta is missing");
  const auto version = string_member(*meta, kMetaVersion);
  if (!version) return invalid(std::string(kMetaVersion) + " is missing in _meta");
  const auto capabilities = member(*meta, kMetaCapabilities);
  if (!capabilities || !is_object(*capabilities)) {
    return invalid(std::string(kMetaCapabilities) + " is missing in _meta");
  }
  const auto header = ask.header("mcp-protocol-version");
  if (!header) return mismatch("the header MCP-Protocol-Version is missing");
  if (trimmed(*header) != *version) {
    return mismatch("MCP-Protocol-Version is not what the message says");
  }
  if (*version == kModern) return std::nullopt;
  base::JsonObject data;
  data.add("supported", "[" + base::json_text(kModern) + "]");
  data.add("requested", base::json_text(*version));
  return Refusal{.status = 400,
                 .code = kUnsupportedVersion,
                 .message = "Unsupported protocol version",
                 .data = data.str()};
}

}  // namespace

bool is_modern(const Ask& ask, const Parsed& body) {
  const auto version = ask.header("mcp-protocol-version");
  if (version == kModern) return true;
  // Some send the new headers to everybody, whatever they speak.
  if (ask.header("mcp-method") && !(version && has_sessions(*version))) return true;
  const auto& first = body.messages.front();
  if (!first) return false;
  return request_meta(*first, kMetaVersion) || first->method() == "server/discover";
}

std::optional<std::string_view> request_meta(const Message& request, std::string_view name) {
  const auto meta = member(request.params(), "_meta");
  return meta ? member(*meta, name) : std::nullopt;
}

std::optional<std::string> decoded_header(std::string_view value) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  value = trimmed(value);
  if (value.size() < kBegin.size() + kEnd.size() || !value.starts_with(kBegin) ||
      !value.ends_with(kEnd)) {
    return std::string(value);
  }
  value.remove_prefix(kBegin.size());
  value.remove_suffix(kEnd.size());
  return from_base64(value);
}

std::optional<Refusal> check_modern(const Ask& ask, const Message& request) {
  if (auto refusal = check_version(ask, request)) return refusal;
  const auto method = ask.header("mcp-method");
  if (!method) return mismatch("the header Mcp-Method is missing");
  if (trimmed(*method) != request.method()) {
    return mismatch("Mcp-Method is not the message's method");
  }
  const std::string_view parameter = name_parameter(request.method());
  if (const auto name = string_member(request.params(), parameter); name && !parameter.empty()) {
    const auto header = ask.header("mcp-name");
    if (!header) return mismatch("the header Mcp-Name is missing");
    if (decoded_header(*header) != *name) {
      return mismatch("Mcp-Name is not the message's " + std::string(parameter));
    }
  }
  if (std::ranges::find(kRemoved, request.method()) != kRemoved.end()) {
    return Refusal{
        .status = 404, .code = kMethodNotFound, .message = "Method not found", .data = {}};
  }
  return std::nullopt;
}

void HeaderParams::learn(std::string_view result) {
  const auto tools = member(result, "tools");
  if (!tools || !is_array(*tools)) return;
  Elements all(*tools);
  while (const auto tool = all.next()) {
    const auto name = string_member(*tool, "name");
    const auto schema = member(*tool, "inputSchema");
    if (!name || !schema) continue;
    std::vector<Param> found;
    std::vector<std::string> path;
    collect(*schema, path, found);
    if (found.empty()) {
      tools_.erase(*name);
    } else {
      tools_.insert_or_assign(*name, std::move(found));
    }
  }
}

void HeaderParams::collect(std::string_view schema, std::vector<std::string>& path,
                           std::vector<Param>& found) {
  const auto properties = member(schema, "properties");
  if (!properties || !is_object(*properties)) return;
  Members all(*properties);
  while (const auto property = all.next()) {
    path.push_back(property->name);
    if (const auto header = string_member(property->value, "x-mcp-header")) {
      found.push_back({.header = "mcp-param-" + lower(*header), .path = path});
    }
    collect(property->value, path, found);
    path.pop_back();
  }
}

std::optional<Refusal> HeaderParams::check(const Ask& ask, const Message& call) const {
  const auto tool = string_member(call.params(), "name");
  const auto found = tool ? tools_.find(*tool) : tools_.end();
  if (found == tools_.end()) return std::nullopt;
  for (const Param& param : found->second) {
    auto value = member(call.params(), "arguments");
    for (const std::string& step : param.path) {
      if (value) value = member(*value, step);
    }
    const auto header = ask.header(param.header);
    const bool expected = value && !is_null(*value);
    if (!expected && !header) continue;
    if (!expected) return mismatch(param.header + " is not among the arguments");
    if (!header) return mismatch("the header " + param.header + " is missing");
    const auto said = decoded_header(*header);
    if (!said) return mismatch(param.header + " is no base64");
    const bool same = is_string(*value) ? unescaped(*value) == *said
                                        : *value == *said || same_number(*value, *said);
    if (!same) return mismatch(param.header + " is not what the arguments say");
  }
  return std::nullopt;
}

}  // namespace cordon::mcp
