#include "policy/read_json.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <set>
#include <utility>

#include "base/errors.h"

namespace cordon::policy {
namespace {

// Finds the values; what one of them means is asked of the library.
class Reader {
 public:
  Reader(std::string_view text, const std::string& file, std::uint32_t line)
      : text_(text), file_(file), line_(line) {}

  Result<Node> read() {
    auto node = value(0);
    if (!node) return node;
    skip_blanks();
    if (at_ < text_.size()) return wrong("something follows the end of the value: remove it");
    return node;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) step();
  }

  void step() {
    if (text_[at_++] == '\n') {
      ++line_;
      begin_ = at_;
    }
  }

  [[nodiscard]] Place here() const {
    return {.file = file_, .line = line_, .column = static_cast<std::uint32_t>(at_ - begin_ + 1)};
  }

  [[nodiscard]] std::unexpected<Error> wrong(const std::string& what) const {
    return base::fail(ErrorCode::invalid_argument, "policy",
                      exactly(here()) + ": this is not JSON: " + what);
  }

  // True, and one step further, if `c` is next.
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    step();
    return true;
  }

  Result<Node> value(std::size_t depth) {
    skip_blanks();
    if (depth > kMostDepth) return wrong("it is nested too deeply: make it flatter");
    if (at_ >= text_.size()) return wrong("it ends too early: complete it");
    if (text_[at_] == '{') return object(depth);
    if (text_[at_] == '[') return array(depth);
    return scalar();
  }

  Result<Node> object(std::size_t depth) {
    Node node{.kind = Node::Kind::table, .place = here()};
    step();
    if (take('}')) return node;
    std::set<std::string> names;  // a search in the members would take forever with many of them
    do {
      skip_blanks();
      const Place named = here();
      if (at_ >= text_.size() || text_[at_] != '"') return wrong("a name in quotes is missing");
      auto name = scalar();
      if (!name) return name;
      if (!take(':')) return wrong("\":\" is missing after a name");
      auto member = value(depth + 1);
      if (!member) return member;
      if (!names.insert(name->text).second) {
        return wrong("the name \"" + name->text + "\" is there twice: remove one");
      }
      member->place = named;
      node.members.push_back({std::move(name->text), *std::move(member)});
    } while (take(','));
    if (!take('}')) return wrong("\"}\" is missing");
    return node;
  }

  Result<Node> array(std::size_t depth) {
    Node node{.kind = Node::Kind::array, .place = here()};
    step();
    if (take(']')) return node;
    do {
      auto item = value(depth + 1);
      if (!item) return item;
      node.items.push_back(*std::move(item));
    } while (take(','));
    if (!take(']')) return wrong("\"]\" is missing");
    return node;
  }

  // Up to the end of a string, number or word.
  [[nodiscard]] std::string_view token() const {
    std::size_t end = at_;
    if (text_[at_] == '"') {
      for (++end; end < text_.size() && text_[end] != '"' && text_[end] != '\n'; ++end) {
        if (text_[end] == '\\') ++end;
      }
      end = std::min(end + 1, text_.size());
    } else {
      end = std::min(text_.find_first_of(",]}: \t\r\n", at_), text_.size());
    }
    return text_.substr(at_, end - at_);
  }

  Result<Node> scalar() {
    Node node{.kind = Node::Kind::other, .place = here()};
    const std::string_view part = token();
    boost::system::error_code error;
    const boost::json::value parsed = boost::json::parse(part, error);
    if (error) return wrong("a text, a number, true, false, null, a list or an object is expected");
    at_ += part.size();
    if (const auto* text = parsed.if_string()) {
      node.kind = Node::Kind::text;
      node.text = std::string(*text);
    } else if (const auto* integer = parsed.if_int64()) {
      node.kind = Node::Kind::integer;
      node.integer = *integer;
    } else if (parsed.is_double() || parsed.is_uint64()) {
      node.kind = Node::Kind::real;
      node.real =
          parsed.is_double() ? parsed.get_double() : static_cast<double>(parsed.get_uint64());
    } else if (const auto* boolean = parsed.if_bool()) {
      node.kind = Node::Kind::boolean;
      node.boolean = *boolean;
    }
    return node;
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  std::size_t begin_ = 0;  // of the line
  std::uint32_t line_;
};

}  // namespace

Result<Node> read_json(std::string_view text, const std::string& file, std::uint32_t line) {
  if (text.size() > kMostBytes) {
    return base::fail(ErrorCode::invalid_argument, "policy",
                      to_string({.file = file}) + " is larger than 1M: make it smaller");
  }
  return Reader(text, file, line).read();
}

}  // namespace cordon::policy
