// Grants and the working directory.
#include <algorithm>
#include <initializer_list>

#include "base/paths.h"
#include "base/printable.h"
#include "policy/judges.h"

namespace cordon::policy {
namespace {

using Kind = Grant::Kind;

const Placed<std::string>* above(const TextList& list, std::string_view path) {
  if (!list) return nullptr;
  const auto at = std::ranges::find_if(
      list->value, [&](const auto& top) { return base::at_or_below(path, top.value); });
  return at == list->value.end() ? nullptr : &*at;
}

// A denied place at, above or below: a grant shows all that is in it.
const Placed<std::string>* touched(const TextList& denied, std::string_view path) {
  if (!denied) return nullptr;
  const auto at = std::ranges::find_if(denied->value, [&](const auto& no) {
    return base::at_or_below(path, no.value) || base::at_or_below(no.value, path);
  });
  return at == denied->value.end() ? nullptr : &*at;
}

struct PathAsk {
  std::string subject;  // "read", "write", "cwd"
  std::string path;
  Place asked_by;
};

void refuse(const Case& all, const PathAsk& ask, const Place& place, const std::string& why) {
  all.refuse(ask.subject, ask.path, place, ask.asked_by,
             to_string(ask.asked_by) + ": " + ask.subject + " of " + base::printable(ask.path) +
                 " " + why);
}

bool check_denied(const Case& all, const PathAsk& ask, const TextList& denied) {
  const auto* no = touched(denied, ask.path);
  if (no == nullptr) return true;
  const bool inside = ask.path != no->value && base::at_or_below(no->value, ask.path);
  refuse(
      all, ask, no->place,
      (inside ? "would show " + base::printable(no->value) + ", which " : std::string("is what ")) +
          to_string(no->place) + " denies: " +
          (inside ? "name what is needed below it" : "do without") + ", or change that line");
  return false;
}

bool check_list(const Case& all, const PathAsk& ask, std::initializer_list<const TextList*> lists,
                const Place& place, Place& decided) {
  for (const TextList* list : lists) {
    if (const auto* top = above(*list, ask.path)) {
      decided = top->place;
      return true;
    }
  }
  refuse(all, ask, place,
         "is not below what " + to_string(place) + " allows: choose another path, or add it there");
  return false;
}

// One path against one ceiling. What a file grants it also allows.
bool check(const Case& all, const PathAsk& ask, Kind kind, const Ceiling& ceiling, Place& decided) {
  const PathRules& rules = ceiling.paths;
  const GrantLists& own = ceiling.grants;
  if (!check_denied(all, ask, rules.deny_read)) return false;
  if (kind == Kind::write) {
    if (!check_denied(all, ask, rules.deny_write)) return false;
    if (!rules.write && !rules.read) return true;
    // A list of what may be read, and no word about writing, does not allow it.
    const Place& place = rules.write ? rules.write->place : rules.read->place;
    return check_list(all, ask, {&rules.write, &own.write}, place, decided);
  }
  if (ask.subject == "cwd" && rules.cwd) {
    return check_list(all, ask, {&rules.cwd}, rules.cwd->place, decided);
  }
  if (ask.subject == "rootfs" && rules.rootfs) {
    return check_list(all, ask, {&rules.rootfs}, rules.rootfs->place, decided);
  }
  if (!rules.read || base::in_system_directory(ask.path)) return true;
  return check_list(all, ask, {&rules.read, &rules.write, &own.read, &own.write}, rules.read->place,
                    decided);
}

bool judge(const Case& all, const PathAsk& ask, Kind kind) {
  Place decided;
  for (const Ceiling& ceiling : all.policy.ceilings) {
    if (!check(all, ask, kind, ceiling, decided)) return false;
  }
  all.allow(ask.subject, ask.path, decided, ask.asked_by);
  return true;
}

// Where programs are restricted, nothing may be put in the place of what they load.
bool check_target(const Case& all, const GrantAsk& ask) {
  const std::string target = base::normalise(ask.grant.target).value_or(ask.grant.target);
  if (target.empty() || target == ask.asked_as || !restricts_programs(all.policy)) return true;
  const bool covers =
      base::in_system_directory(target) || base::at_or_below(target, "/etc") || target == "/";
  if (!covers) return true;
  const auto ceiling = std::ranges::find_if(
      all.policy.ceilings, [](const Ceiling& one) { return one.programs || one.denied_programs; });
  const Place& place =
      ceiling->programs ? ceiling->programs_place : ceiling->denied_programs->place;
  refuse(all, {.subject = "target", .path = target, .asked_by = ask.asked_by}, place,
         "would change what programs load, while " + to_string(place) +
             " says which may run: choose a place outside of the system's directories");
  return false;
}

void judge_grants(const Case& all) {
  std::vector<Grant> allowed;
  for (const GrantAsk& ask : all.asks.grants) {
    if (!check_target(all, ask)) continue;
    if (ask.grant.kind == Kind::tmpfs) {
      all.allow("tmpfs", ask.grant.target, {}, ask.asked_by);
    } else {
      const bool write = ask.grant.kind == Kind::write;
      const std::string path = base::normalise(ask.grant.source).value_or("");
      const PathAsk one{write ? "write" : "read", path.empty() ? ask.grant.source : path,
                        ask.asked_by};
      if (path.empty() && !all.policy.ceilings.empty()) {
        refuse(all, one, {}, "is not an absolute path without \"..\": write it as one");
        continue;
      }
      if (!judge(all, one, ask.grant.kind)) continue;  // without a ceiling: whatever it is
    }
    allowed.push_back(ask.grant);
  }
  all.result.request.grants = std::move(allowed);
}

// A root is a grant to read all of it. Which programs it has nobody has checked.
void judge_root(const Case& all) {
  const std::string& root = all.asks.request.root;
  if (root.empty()) return;
  const PathAsk ask{.subject = "rootfs", .path = root, .asked_by = option("--rootfs")};
  if (restricts_programs(all.policy)) {
    const auto ceiling = std::ranges::find_if(all.policy.ceilings, [](const Ceiling& one) {
      return one.programs || one.denied_programs;
    });
    const Place& place =
        ceiling->programs ? ceiling->programs_place : ceiling->denied_programs->place;
    refuse(all, ask, place,
           "would bring programs of its own, while " + to_string(place) +
               " says which of the host's may run: do without");
    return;
  }
  if (!base::normalise(root) && !all.policy.ceilings.empty()) {
    refuse(all, ask, {}, "is not an absolute path without \"..\": write it as one");
    return;
  }
  (void)judge(all, ask, Kind::read);
}

// The working directory as the host has it, in the root if there is one; empty if a grant makes it
// inside.
std::string host_cwd(const Case& all) {
  const std::string& cwd = all.surroundings.cwd;
  const Grant* innermost = nullptr;
  std::string place;
  for (const Grant& grant : all.result.request.grants) {
    std::string target = base::normalise(grant.target).value_or("");
    if (target.empty() || !base::at_or_below(cwd, target) || target.size() < place.size()) continue;
    innermost = &grant;
    place = std::move(target);
  }
  if (innermost == nullptr) {
    const std::string& root = all.asks.request.root;
    if (root.empty() || cwd.empty()) return cwd;
    return cwd == "/" ? root : root + cwd;
  }
  if (innermost->kind == Kind::tmpfs) return {};
  return base::normalise(innermost->source + "/" + cwd.substr(place == "/" ? 0 : place.size()))
      .value_or(cwd);
}

}  // namespace

void judge_paths(const Case& all) {
  judge_root(all);
  judge_grants(all);
  const std::string cwd = host_cwd(all);
  if (cwd.empty()) return;
  const bool by_manifest =
      all.asks.manifest && all.asks.manifest->cwd && all.asks.request.cwd.empty();
  if (all.surroundings.own_directory && !by_manifest && all.asks.request.cwd.empty()) return;
  const Place asked = by_manifest                    ? all.asks.manifest->cwd->place
                      : all.asks.request.cwd.empty() ? option("the current directory")
                                                     : option("--cwd");
  if (judge(all, {.subject = "cwd", .path = cwd, .asked_by = asked}, Kind::read)) {
    all.result.request.cwd = all.surroundings.cwd;
  }
}

}  // namespace cordon::policy
