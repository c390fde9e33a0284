#include <charconv>
#include <cmath>

#include "base/printable.h"
#include "cordon/request.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

constexpr double kMillicores = 1000;
constexpr double kMostMillicores = 1e9;

// 1500 (millicores) or "1.5" (processors).
Ask<std::uint64_t> read_cpu(TableReader& reader) {
  constexpr std::string_view kExpected =
      "millicores such as 1500, or processors as a text: \"1.5\"";
  const Node* value = reader.any("cpu");
  if (value == nullptr) return std::nullopt;
  double millicores = 0;
  if (value->kind == Node::Kind::integer) {
    millicores = static_cast<double>(value->integer);
  } else if (value->kind == Node::Kind::text) {
    const std::string& text = value->text;
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc{} || end != text.data() + text.size()) {
      reader.wrong(value->place, "cpu: \"" + base::printable(text) + "\" is not a number: write " +
                                     std::string(kExpected));
      return std::nullopt;
    }
    millicores = std::floor(number * kMillicores);
  } else {
    reader.wrong_type("cpu", *value, kExpected);
    return std::nullopt;
  }
  if (!(millicores >= 1) || millicores > kMostMillicores) {
    reader.wrong(value->place, "cpu has to be from 1 millicore to a million processors");
    return std::nullopt;
  }
  return Placed<std::uint64_t>{static_cast<std::uint64_t>(millicores), value->place};
}

void at_least(TableReader& reader, const Ask<std::uint64_t>& value, std::uint64_t least,
              const char* name) {
  if (value && value->value < least) {
    reader.wrong(value->place, std::string(name) + " is " + std::to_string(value->value) +
                                   ", with which no program runs: give at least " +
                                   std::to_string(least));
  }
}

}  // namespace

void read_limits(TableReader& outer, std::string_view name, LimitValues& limits) {
  const Node* table = outer.table(name);
  if (table == nullptr) return;
  TableReader reader(*table, std::string(name));
  const bool defaults = name == "defaults";
  limits.timeout = defaults ? reader.duration_or_none("timeout") : reader.duration("timeout");
  limits.grace = reader.duration("grace");
  limits.cpu_time = reader.duration("cpu_time");
  limits.cpu = read_cpu(reader);
  limits.memory = reader.size("memory");
  limits.pids = reader.count("pids");
  limits.files = reader.count("files");
  limits.file_size = reader.size("file_size");
  limits.output = reader.size("output");
  limits.max_output_buffer = reader.size("max_output_buffer");
  limits.max_processes = reader.count("max_processes");
  if (defaults) limits.workdir = reader.boolean("workdir");
  for (const auto* time : {&limits.timeout, &limits.cpu_time}) {
    if (*time && (*time)->value <= Duration{0}) {
      reader.wrong((*time)->place, "this leaves no time at all: give more than 0");
    }
  }
  at_least(reader, limits.memory, 1, "memory");
  at_least(reader, limits.pids, 1, "pids");
  at_least(reader, limits.files, 3, "files");
  at_least(reader, limits.max_output_buffer, 1, "max_output_buffer");
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

}  // namespace cordon::policy
