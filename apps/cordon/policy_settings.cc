// What a policy says about the log and about secrets, as the parts of the command that keep them
// want it.
#include <algorithm>
#include <charconv>
#include <utility>

#include "audit_arguments.h"
#include "base/errors.h"
#include "concat.h"
#include "policy/obstacles.h"
#include "policy_options.h"

namespace cordon::app {
namespace {

std::unexpected<Error> contradicts(std::string_view option, const std::string& asked,
                                   const policy::Placed<std::string>& said) {
  return base::fail(ErrorCode::not_permitted, "policy",
                    concat(option, " ", asked, ": ", to_string(said.place), " says ", said.value,
                           ": leave the option out, or change it there"));
}

// As the policy says, if it does; an option may say the same.
Result<void> settle(std::string& value, const policy::Ask<std::string>& said,
                    std::string_view option) {
  if (!said) return {};
  if (!value.empty() && value != said->value) return contradicts(option, value, *said);
  value = said->value;
  return {};
}

secrets::Ask ask_of(const std::string& name, const policy::SecretRule& rule) {
  using From = policy::SecretRule::Kind;
  using To = secrets::Source::Kind;
  secrets::Ask ask{.name = name, .source = {.place = rule.from}};
  switch (rule.kind) {
    case From::file:
      ask.source.kind = To::file;
      break;
    case From::env:
      ask.source.kind = To::variable;
      break;
    case From::fd:
      ask.source.kind = To::descriptor;
      ask.source.place.clear();
      std::from_chars(rule.from.data(), rule.from.data() + rule.from.size(), ask.source.descriptor);
      break;
    case From::command:
      ask.source.kind = To::command;
      ask.source.place.clear();
      ask.source.argv = rule.command;
      break;
  }
  switch (rule.delivery) {
    case policy::Delivery::env:
      ask.delivery = Secret::Delivery::env;
      break;
    case policy::Delivery::fd:
      ask.delivery = Secret::Delivery::fd;
      break;
    case policy::Delivery::file:
      ask.delivery = Secret::Delivery::file;
      break;
  }
  return ask;
}

}  // namespace

Result<audit::Settings> audit_settings(const policy::Policy& policy, const RunOptions& options) {
  audit::Settings settings = options.audit;
  settings.policy_digest = policy.digest;
  const auto said = policy::audit_of(policy);
  if (settings.directory.empty() && !(said && said->directory) && options.request.explain) {
    settings.directory = default_audit_directory();
    const bool required = said && said->required && said->required->value;
    if (!required) settings.on_failure = audit::OnFailure::proceed;
  }
  if (!said) return settings;
  if (auto ok = settle(settings.directory, said->directory, "--audit"); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  if (auto ok = settle(settings.key_file, said->key_file, "--audit-key"); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  const bool required = said->required && said->required->value;
  if (required && settings.directory.empty()) settings.directory = default_audit_directory();
  if (said->durable) settings.durable = said->durable->value;
  if (said->max_file_size) {
    settings.max_file_size = std::min(settings.max_file_size, said->max_file_size->value);
  }
  if (said->on_failure && said->on_failure->value == "continue") {
    settings.on_failure = audit::OnFailure::proceed;
  }
  return settings;
}

void name_policy_lines(Outcome& outcome, const policy::Policy& policy) {
  for (Denial& denial : outcome.denials) {
    const auto places = policy::obstacles(policy, denial);
    std::string lines;
    for (const policy::Place& place : places) {
      lines += concat(lines.empty() ? ", once " : " and ", to_string(place));
    }
    if (!lines.empty()) denial.allow += lines + (places.size() > 1 ? " allow it" : " allows it");
  }
}

PolicySecrets secrets_of(const JudgedRun& judged) {
  return [&judged](const std::string& name) -> std::optional<secrets::Ask> {
    for (const auto& [known, rule] : judged.answer.evaluation.secrets) {
      const bool by_policy = !rule.place.file.empty();
      if (known == name && by_policy) return ask_of(name, rule);
    }
    return std::nullopt;
  };
}

}  // namespace cordon::app
