// The environment (C58–C62): what passes, what is set, and what never is without a grant.
#include <algorithm>
#include <set>

#include "base/printable.h"
#include "policy/env_names.h"
#include "policy/judges.h"
#include "request/environment.h"

namespace cordon::policy {
namespace {

struct Ruling {
  bool allowed = true;
  Place place{};    // who decided
  std::string why;  // refused: "is not in", "is dangerous, and not granted by"
};

Ruling by_list(const TextList& list, const std::string& name, const char* why) {
  if (!list) return {};
  if (const auto* entry = match(list->value, name)) return {.place = entry->place};
  return {.allowed = false, .place = list->place, .why = why};
}

// Every file that was named has to grant it, by its exact name; one that a file includes, or a
// profile, may take it back.
Ruling dangerous(const Policy& policy, const std::string& name) {
  if (!is_dangerous(name)) return {};
  Ruling ruling;
  for (const Ceiling& ceiling : policy.ceilings) {
    const TextList& list = ceiling.env.allow_dangerous;
    if (!list && !ceiling.is_root) continue;
    const auto exact = [&](const auto& one) { return one.value == name; };
    if (list) {
      const auto at = std::ranges::find_if(list->value, exact);
      if (at != list->value.end()) {
        ruling.place = at->place;
        continue;
      }
    }
    return {.allowed = false,
            .place = list ? list->place : ceiling.place,
            .why = "can make a program run somebody else's code, and is not in allow_dangerous of"};
  }
  return ruling;
}

// Whether a variable of the caller's may go in.
Ruling may_pass(const Policy& policy, const std::string& name) {
  Ruling last;
  for (const Ceiling& ceiling : policy.ceilings) {
    const EnvironmentRules& env = ceiling.env;
    if (env.clean && env.clean->value) {
      return {.allowed = false, .place = env.clean->place, .why = "is yours, and must not pass by"};
    }
    const Ruling one = by_list(env.pass, name, "is not in env.pass of");
    if (!one.allowed) return one;
    if (!one.place.file.empty()) last = one;
  }
  return last;
}

Ruling may_set(const Policy& policy, const std::string& name) {
  Ruling last;
  for (const Ceiling& ceiling : policy.ceilings) {
    const Ruling one = by_list(ceiling.env.settable, name, "is not in env.settable of");
    if (!one.allowed) return one;
    if (!one.place.file.empty()) last = one;
  }
  return last;
}

class Environment {
 public:
  explicit Environment(const Case& all) : all_(all) {}

  void judge() {
    add_policy();
    add_request();
    pass_callers();
    add_manifest();
    check_secrets();
    all_.result.request.env = std::move(set_);
    all_.result.request.env_pass.assign(passed_.begin(), passed_.end());
  }

 private:
  void refuse(const std::string& name, const Ruling& ruling, const Place& asked_by) const {
    all_.refuse("env " + base::printable(name), "", ruling.place, asked_by,
                to_string(asked_by) + ": the variable " + base::printable(name) + " " + ruling.why +
                    " " + to_string(ruling.place) + ": leave it out, or add it there");
  }

  [[nodiscard]] bool is_set(const std::string& name) const {
    return std::ranges::any_of(set_, [&](const EnvVar& var) { return var.name == name; });
  }

  // False, and a refusal, unless `name` may be set to something by `asked_by`.
  bool check_set(const std::string& name, const Place& asked_by) const {
    for (const Ruling& ruling : {dangerous(all_.policy, name), may_set(all_.policy, name)}) {
      if (ruling.allowed) continue;
      refuse(name, ruling, asked_by);
      return false;
    }
    return true;
  }

  // What a policy sets is judged by the other files, like any ask.
  void add_policy() {
    for (const Ceiling& ceiling : all_.policy.ceilings) {
      for (const auto& [name, value] : ceiling.env.set) {
        if (is_set(name) || !check_set(name, value.place)) continue;
        set_.push_back({name, value.value});
        fixed_.emplace_back(name, value.place);
        all_.allow("env " + name, "set", value.place, value.place);
      }
    }
  }

  void add_request() {
    const Place asked = option("--env");
    const std::size_t fixed = set_.size();
    for (const EnvVar& var : all_.asks.request.env) {
      const auto at = std::ranges::find(
          set_.begin(), set_.begin() + static_cast<std::ptrdiff_t>(fixed), var.name, &EnvVar::name);
      if (at != set_.begin() + static_cast<std::ptrdiff_t>(fixed)) {
        if (at->value == var.value) continue;
        const Place& place = fixed_[static_cast<std::size_t>(at - set_.begin())].second;
        refuse(var.name, {.allowed = false, .place = place, .why = "has another value in"}, asked);
        continue;
      }
      if (!check_set(var.name, asked)) continue;
      all_.allow("env " + base::printable(var.name), "set", may_set(all_.policy, var.name).place,
                 asked);
      set_.push_back(var);
    }
  }

  void pass_callers() {
    const auto defaults = default_env_pass();
    for (const std::string& pattern : all_.asks.request.env_pass) {
      const bool asked = std::ranges::find(defaults, pattern) == defaults.end();
      const bool exact = !pattern.contains('*');
      if (exact && asked) check_pass(pattern, option("--env"));
      for (const std::string& entry : all_.surroundings.environment) {
        const std::string name = entry.substr(0, entry.find('='));
        // In the result a "*" would be a pattern again.
        if (name.empty() || name.contains('*') || !request::glob_matches(pattern, name)) continue;
        if (is_set(name) || passed_.contains(name)) continue;
        if (!exact && is_dangerous(name)) continue;  // only by its exact name
        if (may_pass(all_.policy, name).allowed && dangerous(all_.policy, name).allowed) {
          all_.allow("env " + base::printable(name), "passed", may_pass(all_.policy, name).place,
                     asked ? option(exact ? "--env" : "--env-pass") : Place{});
          passed_.insert(name);
        } else if (asked && !exact) {
          check_pass(name, option("--env-pass"));
        }
      }
    }
  }

  // What was asked for by name is refused even if the caller has no such variable.
  void check_pass(const std::string& name, const Place& asked_by) const {
    for (const Ruling& ruling : {dangerous(all_.policy, name), may_pass(all_.policy, name)}) {
      if (!ruling.allowed) return refuse(name, ruling, asked_by);
    }
  }

  void add_unless_there(const std::string& name, const std::string& value) {
    if (!is_set(name) && !passed_.contains(name)) set_.push_back({name, value});
  }

  void add_manifest() {
    if (!all_.asks.manifest) return;
    for (const auto& [name, value] : all_.asks.manifest->env) {
      if (all_.policy.ceilings.empty() && is_dangerous(name)) {
        refuse(name,
               {.allowed = false,
                .place = {},
                .why = "can make a program run somebody else's code; what is"},
               value.place);
        continue;
      }
      if (!check_set(name, value.place)) continue;
      if (is_set(name) || passed_.contains(name)) continue;
      all_.allow("env " + name, "set", may_set(all_.policy, name).place, value.place);
      set_.push_back({name, value.value});
    }
    if (!all_.surroundings.mcp_home.empty()) {
      add_unless_there("MCP_HOME", all_.surroundings.mcp_home);
    }
    add_unless_there("MCP_BUNDLE_DIR", all_.asks.bundle);
  }

  // A secret is told by a variable, too: where a file does not list it among its secrets, that
  // file's rules for variables hold.
  void check_secrets() const {
    Policy silent;
    for (const Ceiling& ceiling : all_.policy.ceilings) {
      if (!ceiling.secrets) silent.ceilings.push_back(ceiling);
    }
    for (const SecretAsk& ask : all_.asks.secrets) {
      for (const Ruling& ruling : {dangerous(silent, ask.name), may_set(silent, ask.name)}) {
        if (!ruling.allowed) refuse(ask.name, ruling, ask.asked_by);
      }
    }
  }

  const Case& all_;
  std::vector<EnvVar> set_;
  std::vector<std::pair<std::string, Place>> fixed_;  // by the policy: the first ones of set_
  std::set<std::string> passed_;
};

}  // namespace

void judge_environment(const Case& all) { Environment(all).judge(); }

}  // namespace cordon::policy
