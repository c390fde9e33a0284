#include <charconv>

#include "base/printable.h"
#include "policy/env_names.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

Ask<std::string> path(TableReader& reader, std::string_view name, const PathContext& context) {
  auto value = reader.text(name);
  if (value) value->value = checked_path(reader, *value, context);
  return value;
}

// "file:/run/key", "env:TOKEN", "fd:3", or ["command", "arg"].
void read_source(TableReader& reader, const PathContext& context, SecretRule& rule) {
  const Node* source = reader.any("source");
  if (source == nullptr) {
    reader.wrong(rule.place, "a secret without \"source\": say where it comes from");
    return;
  }
  if (source->kind == Node::Kind::array) {
    rule.kind = SecretRule::Kind::command;
    for (const Node& word : source->items) rule.command.push_back(word.text);
    const auto words = reader.texts("source");
    if (words && words->value.empty())
      reader.wrong(source->place, "an empty command: name a program");
    if (words && !words->value.empty() && !words->value.front().value.starts_with('/')) {
      reader.wrong(source->place, "the command of a secret has to be an absolute path");
    }
    return;
  }
  const auto text = reader.text("source");
  if (!text) return;
  const std::string_view all = text->value;
  const std::string_view rest = all.substr(std::min(all.find(':') + 1, all.size()));
  rule.from = std::string(rest);
  if (all.starts_with("file:")) {
    rule.kind = SecretRule::Kind::file;
    rule.from = checked_path(reader, {rule.from, text->place}, context);
  } else if (all.starts_with("env:") && is_env_name(rest)) {
    rule.kind = SecretRule::Kind::env;
  } else if (all.starts_with("fd:") && !rest.empty() && rest.size() < 8 &&
             rest.find_first_not_of("0123456789") == std::string_view::npos) {
    rule.kind = SecretRule::Kind::fd;
  } else {
    reader.wrong(text->place,
                 "the source of a secret is \"file:PATH\", \"env:NAME\", \"fd:NUMBER\" or a "
                 "command as a list: [\"/usr/bin/pass\", \"show\", \"key\"]");
  }
}

SecretRule read_secret(TableReader& outer, const std::string& name, const Node& table,
                       const PathContext& context) {
  TableReader reader(table, "secrets." + name);
  SecretRule rule{.place = table.place};
  if (!is_env_name(name)) {
    reader.wrong(table.place, "a secret is named like a variable: letters, digits and _ (C63)");
  }
  read_source(reader, context, rule);
  if (const auto delivery = reader.text("delivery")) {
    if (delivery->value == "env") {
      rule.delivery = Delivery::env;
    } else if (delivery->value == "fd") {
      rule.delivery = Delivery::fd;
    } else if (delivery->value == "file") {
      rule.delivery = Delivery::file;
    } else {
      reader.wrong(delivery->place, "delivery has to be \"env\", \"fd\" or \"file\"");
    }
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  return rule;
}

}  // namespace

void read_audit(TableReader& outer, const PathContext& context, Ceiling& ceiling) {
  const Node* table = outer.table("audit");
  if (table == nullptr) return;
  TableReader reader(*table, "audit");
  AuditSettings audit{.place = table->place};
  audit.directory = path(reader, "directory", context);
  audit.key_file = path(reader, "key_file", context);
  audit.durable = reader.boolean("durable");
  audit.required = reader.boolean("required");
  audit.max_file_size = reader.size("max_file_size");
  audit.on_failure = reader.text("on_failure");
  if (audit.on_failure && audit.on_failure->value != "refuse" &&
      audit.on_failure->value != "continue") {
    reader.wrong(audit.on_failure->place, "on_failure has to be \"refuse\" or \"continue\"");
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
  ceiling.audit = std::move(audit);
}

void read_secrets(TableReader& outer, const PathContext& context, Ceiling& ceiling) {
  const Node* table = outer.table("secrets");
  if (table == nullptr) return;
  ceiling.secrets.emplace();
  ceiling.secrets_place = table->place;
  for (const Member& member : table->members) {
    ceiling.secrets->emplace(member.name, read_secret(outer, member.name, member.value, context));
  }
}

}  // namespace cordon::policy
