#include "secrets/forms.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "base/utf8.h"

namespace cordon::secrets {
namespace {

constexpr std::string_view kLower = "0123456789abcdef";
constexpr std::string_view kUpper = "0123456789ABCDEF";
constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// What all forms together need at most, for each byte of the value: 1 as it is, 2 with line ends,
// 4 hexadecimal, 6 percent-encoded, 12 in JSON, 8 in base64.
constexpr std::size_t kMostTimes = 33;
constexpr std::size_t kMostBesides = 64;

std::uint8_t byte(char c) { return static_cast<std::uint8_t>(c); }

// Writes one form after the other into locked memory; nothing of them is anywhere else.
class Writer {
 public:
  explicit Writer(std::span<char> room) : room_(room) {}

  void put(char c) { room_[end_++] = c; }
  void put(std::string_view text) {
    for (const char c : text) put(c);
  }
  void put_hex(std::uint8_t value, std::string_view digits) {
    put(digits[value >> 4U]);
    put(digits[value & 15U]);
  }
  // Keeps the form that has been written, unless it is there already.
  void finish(std::vector<std::string_view>& all) {
    const std::string_view form(room_.data() + begin_, end_ - begin_);
    if (form.empty() || std::ranges::find(all, form) != all.end()) {
      end_ = begin_;
      return;
    }
    all.push_back(form);
    begin_ = end_;
  }
  [[nodiscard]] std::size_t size() const { return begin_; }

 private:
  std::span<char> room_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

void put_with_carriage_returns(Writer& to, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') to.put('\r');
    to.put(c);
  }
}

void put_hexadecimal(Writer& to, std::string_view value, std::string_view digits) {
  for (const char c : value) to.put_hex(byte(c), digits);
}

void put_percent_encoded(Writer& to, std::string_view value, std::string_view digits) {
  for (const char c : value) {
    const bool unreserved = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (unreserved) {
      to.put(c);
    } else {
      to.put('%');
      to.put_hex(byte(c), digits);
    }
  }
}

void put_unit(Writer& to, std::uint32_t unit) {
  to.put("\\u");
  to.put_hex(static_cast<std::uint8_t>(unit >> 8U), kLower);
  to.put_hex(static_cast<std::uint8_t>(unit & 255U), kLower);
}

// The character at the beginning of `text`, which is UTF-8 and begins with one beyond ASCII.
std::pair<std::uint32_t, std::size_t> character(std::string_view text) {
  const std::uint8_t first = byte(text.front());
  std::size_t size = 2;
  std::uint32_t code = first & 0x1FU;
  if (first >= 0xF0) {
    size = 4;
    code = first & 0x07U;
  } else if (first >= 0xE0) {
    size = 3;
    code = first & 0x0FU;
  }
  for (std::size_t i = 1; i < size; ++i) code = code << 6U | (byte(text[i]) & 0x3FU);
  return {code, size};
}

void put_json_ascii(Writer& to, char c) {
  constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t";
  constexpr std::string_view kAs = "\"\\bfnrt";
  if (const std::size_t at = kEscaped.find(c); at != std::string_view::npos) {
    to.put('\\');
    to.put(kAs[at]);
  } else if (byte(c) < 0x20) {
    put_unit(to, byte(c));
  } else {
    to.put(c);
  }
}

void put_json(Writer& to, std::string_view value, bool escape_all) {
  while (!value.empty()) {
    std::size_t size = 1;
    if (byte(value.front()) < 0x80 || !escape_all) {
      put_json_ascii(to, value.front());
    } else {
      std::uint32_t code = 0;
      std::tie(code, size) = character(value);
      if (code >= 0x10000) {
        put_unit(to, 0xD800U + ((code - 0x10000) >> 10U));
        code = 0xDC00U + ((code - 0x10000) & 0x3FFU);
      }
      put_unit(to, code);
    }
    value.remove_prefix(size);
  }
}

// The digits of `value` behind `before` (0, 1, 2) other bytes, without those that the others have a
// part in.
void put_base64(Writer& to, std::string_view value, std::size_t before, std::string_view digits) {
  constexpr std::array<std::size_t, 3> kShared = {0, 2, 3};
  const std::size_t whole = (before + value.size()) * 8 / 6;
  for (std::size_t digit = kShared[before]; digit < whole; ++digit) {
    std::uint32_t bits = 0;
    for (std::size_t bit = digit * 6; bit < digit * 6 + 6; ++bit) {
      const std::uint8_t from = byte(value[bit / 8 - before]);
      bits = bits << 1U | ((from >> (7U - bit % 8)) & 1U);
    }
    to.put(digits[bits]);
  }
}

}  // namespace

Result<Forms> Forms::of(std::string_view value) {
  auto store = base::LockedBytes::make(value.size() * kMostTimes + kMostBesides);
  if (!store) return std::unexpected(std::move(store.error()));
  Forms forms;
  forms.store_ = std::move(*store);
  Writer to(forms.store_.writable());
  to.put(value);
  to.finish(forms.all_);
  put_with_carriage_returns(to, value);
  to.finish(forms.all_);
  for (const std::string_view digits : {kLower, kUpper}) {
    put_hexadecimal(to, value, digits);
    to.finish(forms.all_);
    put_percent_encoded(to, value, digits);
    to.finish(forms.all_);
  }
  put_json(to, value, false);
  to.finish(forms.all_);
  if (base::is_utf8(value)) {
    put_json(to, value, true);
    to.finish(forms.all_);
  }
  for (std::size_t before = 0; before < 3; ++before) {
    for (const std::string_view digits : {kBase64, kBase64Url}) {
      put_base64(to, value, before, digits);
      to.finish(forms.all_);
    }
  }
  forms.store_.shrink(to.size());
  forms.store_.make_read_only();
  return forms;
}

}  // namespace cordon::secrets
