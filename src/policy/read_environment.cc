#include "base/printable.h"
#include "policy/env_names.h"
#include "policy/read_parts.h"

namespace cordon::policy {
namespace {

void check_patterns(TableReader& reader, const TextList& list) {
  if (!list) return;
  for (const auto& one : list->value) {
    if (one.value.empty() || one.value.contains('=')) {
      reader.wrong(one.place, "\"" + base::printable(one.value) +
                                  "\" is no name of a variable: write one like PATH or LC_*");
    }
  }
}

}  // namespace

void read_environment(TableReader& outer, EnvironmentRules& rules) {
  const Node* table = outer.table("env");
  if (table == nullptr) return;
  TableReader reader(*table, "env");
  rules.pass = reader.texts("pass");
  rules.settable = reader.texts("settable");
  rules.clean = reader.boolean("clean");
  rules.allow_dangerous = reader.texts("allow_dangerous");
  check_patterns(reader, rules.pass);
  check_patterns(reader, rules.settable);
  if (rules.allow_dangerous) {
    for (const auto& name : rules.allow_dangerous->value) {
      if (is_env_name(name.value)) continue;
      reader.wrong(name.place, "\"" + base::printable(name.value) +
                                   "\": dangerous variables are allowed one by one, by their "
                                   "exact names; a pattern is none");
    }
  }
  if (const Node* set = reader.table("set")) {
    for (const Member& member : set->members) {
      if (!is_env_name(member.name)) {
        reader.wrong(member.value.place, "\"" + base::printable(member.name) +
                                             "\" is no name of a variable: use letters, digits "
                                             "and _");
      }
      if (member.value.kind != Node::Kind::text) {
        reader.wrong_type("set." + member.name, member.value, "a text");
      }
      if (member.value.text.contains('\0')) {
        reader.wrong(member.value.place, "a NUL byte in a variable: remove it");
      }
      rules.set.push_back({member.name, {member.value.text, member.value.place}});
    }
  }
  if (auto finished = reader.finish(); !finished) outer.failed(std::move(finished).error());
}

}  // namespace cordon::policy
