#include "policy/toml_scan.h"

#include <utility>

#include "base/errors.h"
#include "base/utf8.h"
#include "policy/node.h"

namespace cordon::policy {
namespace {

constexpr char kEscape = '~';

// Follows the text byte by byte, knowing only what is inside a string or a comment.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<std::string> scan() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\0') return wrong("a NUL byte: remove it");
      if (!base::is_utf8(character())) return wrong("this is not UTF-8: save the file as UTF-8");
      if (auto ok = inside_ == Inside::nothing ? outside(c) : within(c); !ok) {
        return std::unexpected(std::move(ok).error());
      }
    }
    return std::move(ascii_);
  }

 private:
  enum class Inside { nothing, comment, basic, literal, long_basic, long_literal };

  // The bytes of the character here, as its first byte announces them.
  [[nodiscard]] std::string_view character() const {
    const auto lead = static_cast<unsigned char>(text_[at_]);
    std::size_t size = 1;
    if (lead >= 0xC0) size = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
    return text_.substr(at_, size);
  }

  void step(std::size_t bytes = 1) {
    for (const char c : text_.substr(at_, bytes)) {
      const bool continues = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
      if (c == '\n') {
        ++line_;
        column_ = 1;
      } else if (!continues) {
        ++column_;
      }
      emit(c, continues);
    }
    at_ += bytes;
  }

  void emit(char c, bool continues) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (inside_ == Inside::comment && byte >= 0x80) {
      if (!continues) ascii_ += '?';
    } else if (byte >= 0x80 || (c == kEscape && inside_ != Inside::nothing)) {
      ascii_ += kEscape;
      ascii_ += kDigits[byte >> 4U];
      ascii_ += kDigits[byte & 0xFU];
    } else {
      ascii_ += c;
    }
  }

  [[nodiscard]] bool here(std::string_view some) const {
    return text_.substr(at_).starts_with(some);
  }

  void begin(Inside what, std::size_t bytes) {
    inside_ = what;
    step(bytes);
  }

  Result<void> outside(char c) {
    if (static_cast<unsigned char>(c) >= 0x80) {
      return wrong("a character beyond ASCII outside of quotes: put the text in quotes");
    }
    switch (c) {
      case '#':
        begin(Inside::comment, 1);
        return {};
      case '"':
        begin(here(R"(""")") ? Inside::long_basic : Inside::basic, here(R"(""")") ? 3 : 1);
        return {};
      case '\'':
        begin(here("'''") ? Inside::long_literal : Inside::literal, here("'''") ? 3 : 1);
        return {};
      default:
        return structure(c);
    }
  }

  // What makes the parser recurse: brackets, and the dots of a key.
  Result<void> structure(char c) {
    if (c == '[' || c == '{') {
      if (++depth_ > kMostDepth) {
        return wrong("lists and tables are nested deeper than " + std::to_string(kMostDepth) +
                     ": make it flatter");
      }
    } else if ((c == ']' || c == '}') && depth_ > 0) {
      --depth_;
    }
    if (c == '.') {
      if (++dots_ >= kMostDepth) {
        return wrong("a key of more than " + std::to_string(kMostDepth) + " parts: shorten it");
      }
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      dots_ = 0;
    }
    step();
    return {};
  }

  Result<void> within(char c) {
    const bool line_ends = c == '\n';
    switch (inside_) {
      case Inside::comment:
        if (line_ends) inside_ = Inside::nothing;
        break;
      case Inside::basic:
      case Inside::literal:
        // An open string at the end of a line is an error, for the parser to tell.
        if (line_ends || c == (inside_ == Inside::basic ? '"' : '\'')) inside_ = Inside::nothing;
        break;
      case Inside::long_basic:
      case Inside::long_literal:
        if (here(inside_ == Inside::long_basic ? R"(""")" : "'''")) {
          step(3);
          for (int more = 0; more < 2 && here(std::string_view(&c, 1)); ++more) step();
          inside_ = Inside::nothing;
          return {};
        }
        break;
      case Inside::nothing:
        break;
    }
    const bool escapes = c == '\\' && (inside_ == Inside::basic || inside_ == Inside::long_basic);
    step(character().size());
    // The escaped character, unless it is one that has to be looked at.
    if (escapes && (here("\"") || here("\\"))) step();
    return {};
  }

  [[nodiscard]] std::unexpected<Error> wrong(const std::string& what) const {
    return base::fail(ErrorCode::invalid_argument, "policy",
                      exactly({.file = file_, .line = line_, .column = column_}) + ": " + what);
  }

  std::string_view text_;
  const std::string& file_;
  std::string ascii_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
  std::uint32_t column_ = 1;
  std::size_t depth_ = 0;
  std::size_t dots_ = 0;
  Inside inside_ = Inside::nothing;
};

}  // namespace

Result<std::string> toml_in_ascii(std::string_view text, const std::string& file) {
  return Scanner(text, file).scan();
}

std::string from_ascii(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == kEscape && i + 2 < text.size()) {
      const std::size_t high = kDigits.find(text[i + 1]);
      const std::size_t low = kDigits.find(text[i + 2]);
      if (high != std::string_view::npos && low != std::string_view::npos) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

}  // namespace cordon::policy
