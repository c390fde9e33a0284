#include "mcp/http/route.h"

#include <algorithm>
#include <array>
#include <utility>

#include "mcp/http/text.h"

namespace cordon::mcp {
namespace {

constexpr auto kOnlyOnce = std::to_array<std::string_view>(
    {"authorization", "content-encoding", "content-type", "expect", "last-event-id"});

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// Cuts off what is before `separator`.
std::string_view next_part(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = trimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// "q=0", "q=0.000".
bool is_never(std::string_view parameter) {
  const std::string text = lower_case(parameter);
  return text.starts_with("q=0") && text.find_first_not_of("0.", 2) == std::string::npos;
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

// One part of a path; nothing: it is written wrongly, or has a character that none has.
std::optional<std::string> decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
      const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
      if (!low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (c == '/' || static_cast<unsigned char>(c) < 0x20) return std::nullopt;
    result += c;
  }
  return result;
}

std::optional<Verb> verb_of(std::string_view method) {
  if (method == "POST") return Verb::post;
  if (method == "GET") return Verb::get;
  if (method == "DELETE") return Verb::remove;
  return std::nullopt;
}

bool is_json(std::string_view type) {
  return lower_case(next_part(type, ';')) == "application/json";
}

std::optional<HttpRefusal> ambiguous(const HttpHead& head) {
  for (const auto& [name, value] : head.fields) {
    const bool once =
        name.starts_with("mcp-") || std::ranges::find(kOnlyOnce, name) != kOnlyOnce.end();
    if (once && head.count(name) > 1)
      return HttpRefusal{400, "the header " + name + " is there twice"};
  }
  return std::nullopt;
}

}  // namespace

bool accepts(std::string_view header, std::string_view type) {
  const std::string_view family = type.substr(0, type.find('/') + 1);
  int best = -1;  // how exactly the best that matches does
  bool taken = false;
  while (!header.empty()) {
    std::string_view entry = next_part(header, ',');
    const std::string range = lower_case(next_part(entry, ';'));
    int exact = -1;
    if (range == type) exact = 2;
    if (range == std::string(family) + "*") exact = 1;
    if (range == "*/*") exact = 0;
    if (exact <= best) continue;
    best = exact;
    taken = true;
    while (!entry.empty()) {
      if (is_never(next_part(entry, ';'))) taken = false;
    }
  }
  return taken;
}

std::optional<std::string> server_of(std::string_view target) {
  if (!target.starts_with('/')) {  // the absolute form; whose it is has been looked at
    const std::size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return std::nullopt;
    target.remove_prefix(scheme + 3);
    target.remove_prefix(std::min(target.find_first_of("/?#"), target.size()));
  }
  target = target.substr(0, target.find_first_of("?#"));
  if (!target.starts_with('/')) return std::nullopt;
  target.remove_prefix(1);
  const std::size_t slash = target.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto last = decoded(target.substr(slash + 1));
  if (!last || *last != "mcp") return std::nullopt;
  return decoded(target.substr(0, slash));
}

bool is_preflight(const HttpHead& head) {
  return head.method == "OPTIONS" && head.field("origin") &&
         head.field("access-control-request-method");
}

std::expected<Ask, HttpRefusal> route(const HttpHead& head, const Handler& handler) {
  if (auto refusal = ambiguous(head)) return std::unexpected(*std::move(refusal));
  auto server = server_of(head.target);
  if (!server || !handler.knows(*server)) {
    return std::unexpected(HttpRefusal{404, "there is no such server: the path is /SERVER/mcp"});
  }
  const auto verb = verb_of(head.method);
  if (!verb) {
    return std::unexpected(
        HttpRefusal{405, "the methods are POST, GET and DELETE", {{"Allow", "POST, GET, DELETE"}}});
  }
  const auto expect = head.field("expect");
  if (expect && lower_case(*expect) != "100-continue") {
    return std::unexpected(HttpRefusal{417, "nobody knows how to do what Expect says"});
  }
  if (verb == Verb::post && !is_json(head.field("content-type").value_or(""))) {
    return std::unexpected(HttpRefusal{415, "the Content-Type of a message is application/json"});
  }
  const auto encoding = head.field("content-encoding");
  if (encoding && lower_case(*encoding) != "identity") {
    return std::unexpected(HttpRefusal{415, "messages are not compressed"});
  }

  Ask ask{.verb = *verb, .server = *std::move(server)};
  std::string accept;
  for (const auto& [name, value] : head.fields) {
    if (name == "accept") accept += (accept.empty() ? "" : ",") + value;
    if (name.starts_with("mcp-") || name == "last-event-id") ask.headers.emplace_back(name, value);
  }
  if (head.count("accept") == 0) accept = "*/*";
  ask.takes_json = accepts(accept, "application/json");
  ask.takes_stream = accepts(accept, "text/event-stream");
  const std::string named = lower_case(accept);
  ask.prefers_stream = ask.takes_json && ask.takes_stream &&
                       named.find("text/event-stream") < named.find("application/json");
  return ask;
}

}  // namespace cordon::mcp
