#include "sandbox_record.h"

#include <array>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/json_text.h"

namespace cordon::app::sandbox {
namespace {

constexpr std::string_view kSchema = "cordon.sandbox/1";
constexpr std::array kStates = {SandboxState::initialized, SandboxState::running,
                                SandboxState::checkpointed, SandboxState::stopped,
                                SandboxState::failed};

std::string list(const std::vector<std::string>& texts) {
  std::string json;
  for (const std::string& text : texts) {
    json += json.empty() ? '[' : ',';
    json += base::json_text(text);
  }
  return json.empty() ? "[]" : json + ']';
}

std::string text_at(const boost::json::object& from, std::string_view name) {
  const boost::json::value* const value = from.if_contains(name);
  if (value == nullptr || !value->is_string()) return {};
  return std::string(value->get_string());
}

std::vector<std::string> list_at(const boost::json::object& from, std::string_view name) {
  std::vector<std::string> texts;
  const boost::json::value* const value = from.if_contains(name);
  if (value == nullptr || !value->is_array()) return texts;
  for (const boost::json::value& text : value->get_array()) {
    if (text.is_string()) texts.emplace_back(text.get_string());
  }
  return texts;
}

std::optional<SandboxState> state_named(std::string_view name) {
  for (const SandboxState state : kStates) {
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

}  // namespace

std::string to_json(const Record& record) {
  base::JsonObject object;
  object.add("schema", base::json_text(kSchema))
      .add("name", base::json_text(record.name))
      .add("container", base::json_text_or_null(record.container))
      .add("backend", base::json_text(record.backend))
      .add("state", base::json_text(to_string(record.state)))
      .add("created", base::json_text(record.created))
      .add("pid", std::to_string(record.pid))
      .add("image", base::json_text_or_null(record.image))
      .add("checkpoint", base::json_text_or_null(record.checkpoint))
      .add("command", list(record.command))
      .add("policies", list(record.policies))
      .add("profile", base::json_text_or_null(record.profile))
      .add("failure", base::json_text_or_null(record.failure))
      .add("outcome", record.outcome.empty() ? "null" : record.outcome);
  return object.str();
}

std::optional<Record> parse_record(std::string_view text) {
  boost::json::error_code error;
  const boost::json::value parsed = boost::json::parse(text, error);
  if (error || !parsed.is_object()) return std::nullopt;
  const boost::json::object& from = parsed.get_object();
  const auto state = state_named(text_at(from, "state"));
  if (text_at(from, "schema") != kSchema || !state) return std::nullopt;
  Record record;
  record.name = text_at(from, "name");
  record.container = text_at(from, "container");
  record.backend = text_at(from, "backend");
  record.state = *state;
  record.created = text_at(from, "created");
  const boost::json::value* const pid = from.if_contains("pid");
  if (pid != nullptr && pid->is_int64()) record.pid = pid->get_int64();
  record.image = text_at(from, "image");
  record.checkpoint = text_at(from, "checkpoint");
  record.command = list_at(from, "command");
  record.policies = list_at(from, "policies");
  record.profile = text_at(from, "profile");
  record.failure = text_at(from, "failure");
  const boost::json::value* const outcome = from.if_contains("outcome");
  if (outcome != nullptr && outcome->is_object()) record.outcome = boost::json::serialize(*outcome);
  return record;
}

}  // namespace cordon::app::sandbox
