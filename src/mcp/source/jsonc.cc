#include "mcp/source/jsonc.h"

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "mcp/json_view.h"

namespace cordon::mcp {
namespace {

constexpr int kDeepest = 32;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::expected<JsoncNode, std::string> parse() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    JsoncNode node;
    if (value(node, 0) && skip() && at_ < text_.size()) wrong("something behind the end");
    if (error_) return std::unexpected(*error_);
    return node;
  }

 private:
  bool wrong(const std::string& what) {
    if (!error_) {
      const auto lines = std::ranges::count(text_.substr(0, std::min(at_, text_.size())), '\n');
      error_ = "line " + std::to_string(lines + 1) + ": " + what;
    }
    return false;
  }

  [[nodiscard]] bool sees(std::string_view word) const {
    return text_.substr(std::min(at_, text_.size())).starts_with(word);
  }

  // Blanks and comments.
  bool skip() {
    while (at_ < text_.size()) {
      if (std::string_view(" \t\r\n").contains(text_[at_])) {
        ++at_;
      } else if (sees("//")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (sees("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return wrong("a comment without an end");
        at_ = end + 2;
      } else {
        break;
      }
    }
    return true;
  }

  bool value(JsoncNode& node, int depth) {
    if (depth > kDeepest) return wrong("nested too deep");
    if (!skip()) return false;
    node.begin = at_;
    bool good = false;
    if (sees("{")) {
      node.kind = JsoncNode::Kind::object;
      good = list('}', [&] { return member(node, depth); });
    } else if (sees("[")) {
      node.kind = JsoncNode::Kind::array;
      good = list(']', [&] { return value(node.elements.emplace_back(), depth + 1); });
    } else if (sees("\"")) {
      node.kind = JsoncNode::Kind::string;
      good = string(node.text);
    } else {
      good = scalar();
    }
    node.end = at_;
    return good;
  }

  template <typename Item>
  bool list(char close, const Item& item) {
    ++at_;
    while (true) {
      if (!skip()) return false;
      if (at_ >= text_.size()) return wrong("the end is missing");
      if (text_[at_] == close) {
        ++at_;
        return true;
      }
      if (!item() || !skip()) return false;
      if (sees(",")) {
        ++at_;
      } else if (at_ >= text_.size()) {
        return wrong("the end is missing");
      } else if (text_[at_] != close) {
        return wrong(std::string("neither \",\" nor \"") + close + "\" where one has to be");
      }
    }
  }

  bool member(JsoncNode& node, int depth) {
    JsoncMember member{.begin = at_};
    if (!sees("\"")) return wrong("no name where one has to be");
    if (!string(member.name) || !skip()) return false;
    if (!sees(":")) return wrong("no \":\" behind a name");
    ++at_;
    if (!value(member.value, depth + 1)) return false;
    if (node.member(member.name) != nullptr) {
      return wrong("\"" + base::printable(member.name) + "\" is there twice");
    }
    node.members.push_back(std::move(member));
    return true;
  }

  bool string(std::string& said) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return wrong("a string without an end");
    const std::string_view whole = text_.substr(at_, end + 1 - at_);
    if (!check_json(whole, {})) return wrong("a string that is none in JSON");
    said = unescaped(whole);
    at_ = end + 1;
    return true;
  }

  bool scalar() {
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,]}/:\"", at_), text_.size());
    if (!check_json(text_.substr(at_, end - at_), {})) return wrong("something that is no value");
    at_ = end;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> error_{};
};

}  // namespace

const JsoncMember* JsoncNode::member(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &JsoncMember::name);
  return found == members.end() ? nullptr : &*found;
}

std::expected<JsoncNode, std::string> parse_jsonc(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace cordon::mcp
