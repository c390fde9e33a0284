#include "audit/head.h"

#include <algorithm>
#include <charconv>

namespace cordon::audit {
namespace {

constexpr std::size_t kDigits = 20;  // of the largest number

std::string padded(std::uint64_t value) {
  std::string text = std::to_string(value);
  text.insert(0, kDigits - text.size(), ' ');
  return text;
}

bool take(std::string_view& line, std::string_view text) {
  if (!line.starts_with(text)) return false;
  line.remove_prefix(text.size());
  return true;
}

bool take_number(std::string_view& line, std::string_view name, std::uint64_t& value) {
  if (!take(line, name) || line.size() < kDigits) return false;
  std::string_view digits = line.substr(0, kDigits);
  line.remove_prefix(kDigits);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && stop == digits.data() + digits.size();
}

}  // namespace

std::string head_line(const Head& head) {
  std::string line = R"({"sequence":)";
  line.append(padded(head.sequence)).append(R"(,"file":)").append(padded(head.file));
  line.append(R"(,"size":)").append(padded(head.size));
  line.append(head.keyed ? R"(,"hmac":")" : R"(,"hash":")").append(head.hash).append("\"}\n");
  return line;
}

std::optional<Head> parse_head(std::string_view line) {
  Head head;
  if (!take_number(line, R"({"sequence":)", head.sequence) ||
      !take_number(line, R"(,"file":)", head.file) ||
      !take_number(line, R"(,"size":)", head.size) || head.file == 0) {
    return std::nullopt;
  }
  head.keyed = take(line, R"(,"hmac":")");
  if (!head.keyed && !take(line, R"(,"hash":")")) return std::nullopt;
  const std::string_view hash = line.substr(0, kSealDigits);
  if (!is_seal(hash) || line.substr(kSealDigits) != "\"}\n") return std::nullopt;
  head.hash = hash;
  return head;
}

std::size_t head_length() {
  static const std::size_t kLength = head_line({}).size();
  return kLength;
}

}  // namespace cordon::audit
