#include "audit/call_text.h"

#include <array>
#include <chrono>
#include <string_view>

#include "base/json_text.h"

namespace cordon::audit {
namespace {

constexpr std::array<std::string_view, 6> kEnds = {"ok",      "tool_error", "protocol_error",
                                                   "refused", "cancelled",  "no_answer"};
constexpr std::size_t kLongestName = 256;

std::string cut(const std::string& name) {
  return name.size() <= kLongestName ? name : name.substr(0, kLongestName) + "…";
}

std::int64_t microseconds(const Call& call) {
  return std::chrono::duration_cast<std::chrono::microseconds>(call.duration).count();
}

std::string milliseconds(const Call& call) {
  const std::int64_t all = microseconds(call);
  const std::string rest = std::to_string(all % 1000);
  return std::to_string(all / 1000) + '.' + std::string(3 - rest.size(), '0') + rest;
}

}  // namespace

std::string_view to_string(Call::End end) { return kEnds.at(static_cast<std::size_t>(end)); }

std::string describe(const Call& call) {
  std::string text = cut(call.method);
  if (!call.tool.empty()) text += " " + cut(call.tool);
  text.append(": ").append(to_string(call.end));
  text += " in " + milliseconds(call) + " ms, " + std::to_string(call.request_bytes) +
          " bytes asked, " + std::to_string(call.response_bytes) + " answered";
  return text;
}

std::string json_of(const Call& call) {
  base::JsonObject object;
  object.add("method", base::json_text(cut(call.method)));
  object.add("tool", call.tool.empty() ? "null" : base::json_text(cut(call.tool)));
  object.add("request_bytes", std::to_string(call.request_bytes));
  object.add("response_bytes", std::to_string(call.response_bytes));
  object.add("duration_us", std::to_string(microseconds(call)));
  object.add("end", '"' + std::string(to_string(call.end)) + '"');
  return object.str();
}

}  // namespace cordon::audit
