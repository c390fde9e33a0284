// The outcome as the documented JSON object: names and their order are a contract.
//
// Numbers are written here and not by Boost.JSON, whose doubles come out as 1.00512E2.

#include <fmt/format.h>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_text.h"
#include "cordon/outcome.h"
#include "outcome/enforcement.h"

namespace cordon {
namespace {

std::string json(const LimitHit& hit);
std::string json(const Error& error);
std::string json(const Denial& denial);

std::string json(std::string_view text) { return base::json_text(text); }

std::string json(bool value) { return base::json_bool(value); }

template <std::integral T>
  requires(!std::same_as<T, bool>)
std::string json(T value) {
  return fmt::to_string(value);
}

// Milliseconds, with the microseconds as decimals when there are any.
std::string json(Duration value) {
  const double ms = std::chrono::duration<double, std::milli>(value).count();
  std::string text = fmt::format("{:.3f}", ms);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

template <typename T>
std::string json(const std::optional<T>& value) {
  return value ? json(*value) : "null";
}

std::string json(const LimitHit& hit) {
  return base::JsonObject()
      .add("name", json(hit.name))
      .add("limit", json(hit.limit))
      .add("observed", json(hit.observed))
      .add("evidence", base::json_text_or_null(hit.evidence))
      .str();
}

template <typename T>
std::string json(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) {
    if (text.size() > 1) text += ',';
    text += json(value);
  }
  return text + ']';
}

std::string json(const Denial& denial) {
  return base::JsonObject()
      .add("kind", json(to_string(denial.kind)))
      .add("what", json(denial.what))
      .add("access", json(denial.access))
      .add("allow", base::json_text_or_null(denial.allow))
      .add("reason", base::json_text_or_null(denial.reason))
      .add("count", json(denial.count))
      .str();
}

std::string json(const Termination& termination) {
  return base::JsonObject()
      .add("type", json(to_string(termination.type)))
      .add("code", json(termination.code))
      .add("signal", termination.signal == 0 ? "null" : json(termination.signal))
      .str();
}

std::string json(const Enforcement& enforcement) {
  base::JsonObject object;
  for (const auto& [name, member] : outcome::kGuarantees) {
    object.add(name, json(describe(enforcement.*member)));
  }
  return object.str();
}

std::string json(const Error& error) {
  return base::JsonObject()
      .add("code", json(to_string(error.code)))
      .add("stage", base::json_text_or_null(error.stage))
      .add("os_error", error.os_error == 0 ? "null" : json(error.os_error))
      .add("message", json(error.message))
      .str();
}

}  // namespace

std::string outcome::to_json(const Enforcement& enforcement) { return json(enforcement); }

std::string to_json(const Outcome& o) {
  return base::JsonObject()
      .add("id", json(fmt::to_string(o.id)))
      .add("verdict", json(to_string(o.verdict)))
      .add("termination", json(o.termination))
      .add("exit_code", json(o.exit_code))
      .add("timed_out", json(o.timed_out))
      .add("memory_exceeded", json(o.memory_exceeded))
      .add("wall_ms", json(o.wall))
      .add("cpu_user_ms", json(o.usage.cpu_user))
      .add("cpu_system_ms", json(o.usage.cpu_system))
      .add("memory_peak_bytes", json(o.usage.memory_peak_bytes))
      .add("memory_anonymous_bytes", json(o.usage.memory_anonymous_bytes))
      .add("memory_cache_bytes", json(o.usage.memory_cache_bytes))
      .add("processes_peak", json(o.usage.processes_peak))
      .add("output_bytes", json(o.output_bytes))
      .add("output_truncated", json(o.output_truncated))
      .add("limit", json(o.limit))
      .add("limits_hit", json(o.limits_hit))
      .add("denials", json(o.denials))
      .add("denials_omitted", json(o.denials_omitted))
      .add("hint", base::json_text_or_null(o.hint))
      .add("enforcement", json(o.enforcement))
      .add("backend", json(o.backend))
      .add("error", json(o.error))
      .str();
}

}  // namespace cordon
