#include "audit/record.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "audit/time_text.h"
#include "base/json_text.h"

namespace cordon::audit {
namespace {

constexpr std::array<std::string_view, 12> kNames = {"plan",   "start",   "signal",   "limit",
                                                     "denial", "exit",    "cleanup",  "refused",
                                                     "call",   "sandbox", "repaired", "rotated"};
constexpr std::string_view kBegin = R"({"sequence":)";
constexpr std::string_view kOperation = R"(,"operation":")";
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kLongestOutcome = kLongestLine / 2;

// Boost.JSON lets DEL and the C1 controls (C2 80 … C2 9F in UTF-8) through; a terminal must not
// get them from `show --json`.
std::string without_controls(std::string json) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = static_cast<unsigned char>(json[i]);
    const auto next = static_cast<unsigned char>(i + 1 < json.size() ? json[i + 1] : 0);
    const bool c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (!c1 && byte != 0x7f) {
      text += json[i];
      continue;
    }
    const unsigned char code = c1 ? next : byte;
    text += "\\u00";
    text += kDigits[code >> 4];
    text += kDigits[code & 15];
    if (c1) ++i;
  }
  return text;
}

bool has_controls(std::string_view json) {
  return json.find_first_of("\x7f\xc2") != std::string_view::npos;
}

// Letters and the like, as nearly all texts are.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

std::string json(std::string_view text) {
  if (text.empty()) return "null";
  if (text.size() <= kLongestText && is_plain(text)) return '"' + std::string(text) + '"';
  const bool whole = text.size() <= kLongestText;
  std::string shown(text.substr(0, kLongestText));
  if (!whole) shown += "…";
  std::string value = base::json_text(shown);
  return has_controls(value) ? without_controls(std::move(value)) : value;
}

std::string json_of_outcome(const std::string& outcome) {
  if (outcome.empty()) return "null";
  if (outcome.size() > kLongestOutcome) return R"({"too_long":true})";
  return has_controls(outcome) ? without_controls(outcome) : outcome;
}

void add(std::string& line, std::string_view name, std::string_view value) {
  line.append(",\"").append(name).append("\":").append(value);
}

// Takes `text` off the front or end of `line`.
bool take_front(std::string_view& line, std::string_view text) {
  if (!line.starts_with(text)) return false;
  line.remove_prefix(text.size());
  return true;
}

bool take_back(std::string_view& line, std::string_view text) {
  if (!line.ends_with(text)) return false;
  line.remove_suffix(text.size());
  return true;
}

std::string_view take_seal(std::string_view& line) {
  if (line.size() < kSealDigits) return {};
  const std::string_view seal = line.substr(line.size() - kSealDigits);
  line.remove_suffix(kSealDigits);
  return is_seal(seal) ? seal : std::string_view();
}

}  // namespace

std::string_view to_string(Operation operation) {
  return kNames[static_cast<std::size_t>(operation)];
}

std::optional<Operation> operation_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Operation>(i);
  }
  return std::nullopt;
}

std::string record_line(const Entry& entry, const Writer& writer, std::uint64_t sequence,
                        WallTime time, const Sealer& sealer, const std::string& prev,
                        std::string& hash) {
  std::string line;
  line.reserve(640 + entry.outcome.size());
  line.append(kBegin).append(std::to_string(sequence));
  line.append(kOperation).append(to_string(entry.operation)).append("\"");
  add(line, "time", '"' + time_text(time) + '"');
  add(line, "run", json(entry.run));
  add(line, "uid", std::to_string(writer.uid));
  add(line, "pid", std::to_string(writer.pid));
  add(line, "policy", json(entry.policy_digest));
  add(line, "request", json(entry.request_digest));
  add(line, "program", json(entry.program));
  add(line, "detail", json(entry.detail));
  add(line, "outcome", json_of_outcome(entry.outcome));
  add(line, "prev", '"' + prev + '"');
  hash = sealer.seal(line);
  add(line, sealer.field(), '"' + hash + '"');
  line += "}\n";
  return line;
}

std::optional<Link> read_link(std::string_view line) {
  Link link;
  std::string_view rest = line;
  if (!take_back(rest, "\"}")) return std::nullopt;
  link.hash = take_seal(rest);
  if (take_back(rest, R"(,"hmac":")")) {
    link.keyed = true;
  } else if (!take_back(rest, R"(,"hash":")")) {
    return std::nullopt;
  }
  link.sealed = rest;
  if (!take_back(rest, "\"")) return std::nullopt;
  link.prev = take_seal(rest);
  if (link.hash.empty() || link.prev.empty()) return std::nullopt;
  if (!take_back(rest, R"(,"prev":")") || !take_front(rest, kBegin)) return std::nullopt;

  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), link.sequence);
  if (error != std::errc() || link.sequence == 0) return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  if (!take_front(rest, kOperation)) return std::nullopt;
  const auto operation = operation_named(rest.substr(0, rest.find('"')));
  if (!operation) return std::nullopt;
  link.rotated = *operation == Operation::rotated;
  return link;
}

}  // namespace cordon::audit
