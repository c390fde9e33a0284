#include "mcp/json_view.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "supervise/framing/json_scanner.h"

namespace cordon::mcp {
namespace {

using supervise::is_json_space;
using supervise::JsonScanner;

std::string_view without_space(std::string_view text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
  return text;
}

// Where the string that begins here ends: behind its last quote.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t at = text.find_first_of("\"\\", 1);; at = text.find_first_of("\"\\", at + 2)) {
    if (text[at] == '"') return at + 1;
  }
}

std::size_t end_of_container(std::string_view text) {
  std::size_t depth = 0;
  for (std::size_t at = 0;; ++at) {
    at = text.find_first_of("\"{}[]", at);
    const char c = text[at];
    if (c == '"') {
      at += end_of_string(text.substr(at)) - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (--depth == 0) {
      return at + 1;
    }
  }
}

std::size_t end_of_value(std::string_view text) {
  if (is_string(text)) return end_of_string(text);
  if (is_object(text) || is_array(text)) return end_of_container(text);
  return std::min(text.find_first_of(",]} \t\r\n"), text.size());
}

// Takes the value in front of `rest`, and the space and comma behind it.
std::string_view take_value(std::string_view& rest) {
  const std::string_view value = rest.substr(0, end_of_value(rest));
  rest = without_space(rest.substr(value.size()));
  if (rest.starts_with(',')) rest = without_space(rest.substr(1));
  return value;
}

unsigned hex_digits(std::string_view four) {
  unsigned value = 0;
  for (const char c : four) {
    const auto digit = static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    value = value * 16 + digit;
  }
  return value;
}

void append_utf8(std::string& to, unsigned point) {
  const auto add = [&](unsigned byte) { to += static_cast<char>(byte); };
  if (point < 0x80) return add(point);
  if (point < 0x800) {
    add(0xC0 | (point >> 6));
  } else if (point < 0x10000) {
    add(0xE0 | (point >> 12));
    add(0x80 | ((point >> 6) & 0x3F));
  } else {
    add(0xF0 | (point >> 18));
    add(0x80 | ((point >> 12) & 0x3F));
    add(0x80 | ((point >> 6) & 0x3F));
  }
  add(0x80 | (point & 0x3F));
}

// `text` begins behind the "\u" of an escape; returns how much of it was used.
std::size_t append_escaped_point(std::string& to, std::string_view text) {
  unsigned point = hex_digits(text.substr(0, 4));
  if (point < 0xD800 || point > 0xDFFF) {
    append_utf8(to, point);
    return 4;
  }
  point = 0x10000 + ((point - 0xD800) << 10) + (hex_digits(text.substr(6, 4)) - 0xDC00);
  append_utf8(to, point);
  return 10;  // the other half, too
}

char escaped_character(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

// Names of the objects that are open, each object's behind those of the one that it is in.
class NameCheck {
 public:
  void open() { begins_.push_back(names_.size()); }
  void add(std::string_view string) {
    const std::string_view inside = string.substr(1, string.size() - 2);
    if (inside.find('\\') == std::string_view::npos) {
      names_.push_back(inside);
    } else {
      names_.push_back(decoded_.emplace_back(unescaped(string)));
    }
  }
  // The name that the object which ends here has twice.
  [[nodiscard]] std::optional<std::string_view> close() {
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
    std::sort(begin, names_.end());
    const auto twice = std::adjacent_find(begin, names_.end());
    if (twice != names_.end()) return *twice;
    names_.erase(begin, names_.end());
    begins_.pop_back();
    return std::nullopt;
  }

 private:
  std::vector<std::string_view> names_;
  std::vector<std::size_t> begins_;
  std::deque<std::string> decoded_;
};

std::optional<std::string> name_that_is_there_twice(std::string_view text) {
  NameCheck names;
  for (std::size_t at = text.find_first_of("\"{}"); at != std::string_view::npos;
       at = text.find_first_of("\"{}", at + 1)) {
    if (text[at] == '{') {
      names.open();
    } else if (text[at] == '}') {
      if (const auto twice = names.close()) return std::string(*twice);
    } else {
      const std::size_t size = end_of_string(text.substr(at));
      const std::string_view string = text.substr(at, size);
      at += size - 1;
      if (without_space(text.substr(at + 1)).starts_with(':')) names.add(string);
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::string_view, std::string> check_json(std::string_view text,
                                                        const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return std::unexpected("it has " + std::to_string(text.size()) + " bytes, of at most " +
                           std::to_string(limits.max_bytes));
  }
  const std::string_view begun = without_space(text);
  JsonScanner scanner(limits.max_depth);
  const auto [consumed, status] = scanner.scan(begun);
  const bool whole = status == JsonScanner::Status::done ||
                     (status == JsonScanner::Status::more && scanner.complete());
  if (!whole) {
    const std::size_t at = text.size() - begun.size() + consumed;
    if (status == JsonScanner::Status::more) return std::unexpected("it ends too early");
    return std::unexpected("it is not JSON at byte " + std::to_string(at) +
                           ", or nested there more than " + std::to_string(limits.max_depth) +
                           " levels deep");
  }
  if (const auto behind = without_space(begun.substr(consumed)); !behind.empty()) {
    return std::unexpected("something follows the JSON value, at byte " +
                           std::to_string(text.size() - behind.size()));
  }
  const std::string_view value = begun.substr(0, consumed);
  if (const auto twice = name_that_is_there_twice(value)) {
    return std::unexpected("an object has the name \"" + *twice + "\" twice");
  }
  return value;
}

bool is_integer(std::string_view value) {
  if (value.starts_with('-')) value.remove_prefix(1);
  return !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

std::string unescaped(std::string_view string) {
  std::string_view rest = string.substr(1, string.size() - 2);
  std::string text;
  text.reserve(rest.size());
  for (;;) {
    const std::size_t escape = std::min(rest.find('\\'), rest.size());
    text += rest.substr(0, escape);
    if (escape == rest.size()) return text;
    const char kind = rest[escape + 1];
    rest.remove_prefix(escape + 2);
    if (kind == 'u') {
      rest.remove_prefix(append_escaped_point(text, rest));
    } else {
      text += escaped_character(kind);
    }
  }
}

std::optional<Member> Members::next() {
  rest_ = without_space(rest_);
  if (rest_.starts_with('}')) return std::nullopt;
  const std::string_view name = rest_.substr(0, end_of_string(rest_));
  rest_ = without_space(rest_.substr(name.size()));
  rest_ = without_space(rest_.substr(1));  // the colon
  return Member{.name = unescaped(name), .value = take_value(rest_)};
}

std::optional<std::string_view> Elements::next() {
  rest_ = without_space(rest_);
  if (rest_.starts_with(']')) return std::nullopt;
  return take_value(rest_);
}

std::optional<std::string_view> member(std::string_view value, std::string_view name) {
  if (!is_object(value)) return std::nullopt;
  Members all(value);
  while (const auto each = all.next()) {
    if (each->name == name) return each->value;
  }
  return std::nullopt;
}

std::optional<std::string> string_member(std::string_view value, std::string_view name) {
  const auto found = member(value, name);
  if (!found || !is_string(*found)) return std::nullopt;
  return unescaped(*found);
}

}  // namespace cordon::mcp
