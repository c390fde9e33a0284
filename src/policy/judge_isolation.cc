// Backend, network, user and secrets.
#include <algorithm>

#include "base/printable.h"
#include "policy/judges.h"

namespace cordon::policy {
namespace {

// A ceiling that this backend cannot keep is none: rather nothing is run.
void judge_promises(const Case& all) {
  if (all.surroundings.isolates) return;
  for (const Ceiling& ceiling : all.policy.ceilings) {
    const PathRules& paths = ceiling.paths;
    const Place* broken = nullptr;
    std::string what;
    if (ceiling.network && ceiling.network->value != Network::host) {
      broken = &ceiling.network->place;
      what = "network \"" + std::string(name_of(ceiling.network->value)) + "\"";
    } else if (ceiling.unix_sockets && !ceiling.unix_sockets->value) {
      broken = &ceiling.unix_sockets->place;
      what = "unix_sockets = false";
    }
    for (const TextList* list :
         {&paths.read, &paths.write, &paths.rootfs, &paths.deny_read, &paths.deny_write}) {
      if (broken != nullptr || !*list) continue;
      broken = &(*list)->place;
      what = "this rule about paths";
    }
    if (broken == nullptr) continue;
    all.refuse("backend", all.surroundings.backend, *broken, option("--backend"),
               to_string(option("--backend")) + ": " + to_string(*broken) + ": " + what +
                   " cannot be kept by the backend " + all.surroundings.backend +
                   ", which isolates nothing: use the linux backend");
  }
}

bool names_user(const std::string& entry, const UserFacts& user) {
  const std::size_t colon = entry.find(':');
  const std::string who = entry.substr(0, colon);
  const bool same = (!user.name.empty() && who == user.name) || who == std::to_string(user.uid);
  if (!same) return false;
  if (colon == std::string::npos) return user.gid == user.own_gid;
  const std::string group = entry.substr(colon + 1);
  return (!user.group.empty() && group == user.group) || group == std::to_string(user.gid);
}

std::string text_of(const UserFacts& user) {
  std::string name = user.name.empty() ? std::to_string(user.uid) : user.name;
  if (user.gid == user.own_gid) return name;
  return name + ":" + (user.group.empty() ? std::to_string(user.gid) : user.group);
}

}  // namespace

void judge_backend(const Case& all) {
  const std::string& name = all.surroundings.backend;
  const Place asked = option("--backend");
  for (const Ceiling& ceiling : all.policy.ceilings) {
    if (!ceiling.backends) continue;
    const Texts& list = ceiling.backends->value;
    const auto at = std::ranges::find_if(list, [&](const auto& one) { return one.value == name; });
    if (at != list.end()) {
      all.allow("backend", name, at->place, asked);
      continue;
    }
    all.refuse("backend", name, ceiling.backends->place, asked,
               to_string(asked) + ": the backend " + name + " is not among those that " +
                   to_string(ceiling.backends->place) +
                   " allows: choose one of them, or add it there");
  }
  judge_promises(all);
}

void judge_network(const Case& all) {
  Ask<Network> bound;
  for (const Ceiling& ceiling : all.policy.ceilings) {
    if (ceiling.network && (!bound || ceiling.network->value < bound->value)) {
      bound = ceiling.network;
    }
    if (ceiling.unix_sockets && !ceiling.unix_sockets->value) {
      if (all.result.request.unix_sockets) {
        all.allow("unix_sockets", "no", ceiling.unix_sockets->place, {});
      }
      all.result.request.unix_sockets = false;
    }
  }
  std::vector<Placed<Network>> asks;
  if (all.asks.request.network != Network::none) {
    asks.push_back({all.asks.request.network, option("--net")});
  }
  if (all.asks.manifest && all.asks.manifest->network) asks.push_back(*all.asks.manifest->network);
  for (const auto& ask : asks) {
    const std::string value(name_of(ask.value));
    if (!bound || ask.value <= bound->value) {
      all.allow("network", value, bound ? bound->place : Place{}, ask.place);
      continue;
    }
    all.refuse("network", value, bound->place, ask.place,
               to_string(ask.place) + ": network " + value + " is more than " +
                   to_string(bound->place) + " allows (" + std::string(name_of(bound->value)) +
                   "): do without, or allow it there");
  }
  Network& network = all.result.request.network;
  if (!asks.empty()) network = asks.front().value;
  if (bound) network = std::min(network, bound->value);
}

void judge_user(const Case& all) {
  if (!all.surroundings.user) return;  // an id of the run's own, which is nobody's
  const UserFacts& user = *all.surroundings.user;
  const bool asked = all.asks.request.user.has_value();
  const Place asker = asked ? option("--user") : Place{};
  for (const Ceiling& ceiling : all.policy.ceilings) {
    if (!ceiling.users) continue;
    const Texts& list = ceiling.users->value;
    const auto at =
        std::ranges::find_if(list, [&](const auto& one) { return names_user(one.value, user); });
    if (at != list.end()) {
      all.allow("user", text_of(user), at->place, asker);
      continue;
    }
    all.refuse("user", text_of(user), ceiling.users->place, asker,
               (asked ? to_string(asker) : std::string("you")) + ": the user " +
                   base::printable(text_of(user)) + " is not among those that " +
                   to_string(ceiling.users->place) +
                   " allows: choose one of them by --user, or add it there");
  }
}

void judge_secrets(const Case& all) {
  const auto known = secrets_of(all.policy);
  for (const SecretAsk& ask : all.asks.secrets) {
    const std::string subject = "secret " + base::printable(ask.name);
    if (!known) {
      all.allow(subject, "given", {}, ask.asked_by);
      if (ask.source) all.result.secrets.emplace_back(ask.name, *ask.source);
      continue;
    }
    const auto rule = known->find(ask.name);
    const Place list = [&] {
      for (const Ceiling& ceiling : all.policy.ceilings) {
        if (ceiling.secrets && !ceiling.secrets->contains(ask.name)) return ceiling.secrets_place;
      }
      return rule == known->end() ? Place{} : rule->second.place;
    }();
    const bool same =
        rule != known->end() && (!ask.source || (ask.source->kind == rule->second.kind &&
                                                 ask.source->from == rule->second.from &&
                                                 ask.source->command == rule->second.command));
    if (same) {
      all.allow(subject, "given", rule->second.place, ask.asked_by);
      all.result.secrets.emplace_back(ask.name, rule->second);
      continue;
    }
    all.refuse(subject, "asked for", list, ask.asked_by,
               to_string(ask.asked_by) + ": the secret " + base::printable(ask.name) +
                   (rule == known->end() ? " is not among those of "
                                         : " comes from another source than that of ") +
                   to_string(list) + ": leave it out, or change it there");
  }
}

}  // namespace cordon::policy
