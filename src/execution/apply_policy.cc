#include "execution/apply_policy.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "execution/accounts.h"
#include "execution/program_check.h"
#include "execution/safe_open.h"

namespace cordon::execution {
namespace {

policy::UserFacts facts_about(const User& user) {
  policy::UserFacts facts{.uid = user.uid, .gid = user.gid, .own_gid = user.uid};
  if (const auto account = find_account(user.uid)) {
    facts.name = account->name;
    facts.own_gid = account->gid;
  }
  if (const auto group = find_group(user.gid)) facts.group = group->name;
  return facts;
}

bool names_users(const policy::Policy& policy) {
  return std::ranges::any_of(policy.ceilings,
                             [](const auto& ceiling) { return ceiling.users.has_value(); });
}

// Whom the program would run as. Nothing: root's programs get an id of their own in a sandbox.
std::optional<policy::UserFacts> user_of(const PolicyQuestion& question) {
  if (question.request.user) return facts_about(*question.request.user);
  if (::geteuid() == 0 && question.isolates) return std::nullopt;
  return facts_about({.uid = ::geteuid(), .gid = ::getegid()});
}

std::vector<std::string> callers_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    all.emplace_back(*entry);
  }
  return all;
}

std::string mcp_home() {
  if (const char* const named = std::getenv("MCP_HOME"); named != nullptr && *named == '/') {
    return named;
  }
  const std::string home = home_directory();
  return home.empty() ? "" : home + "/.mcp";
}

std::unexpected<Error> cannot_open(const policy::Place& place, Error why) {
  why.message = to_string(place) + ": " + why.message;
  why.code = ErrorCode::invalid_argument;
  return std::unexpected(std::move(why));
}

// Replaces each source by where it really is: that is what is judged, and what is mounted.
Result<std::vector<policy::GrantAsk>> resolve(std::vector<policy::GrantAsk> grants) {
  std::vector<policy::GrantAsk> all;
  for (policy::GrantAsk& ask : grants) {
    if (ask.grant.kind != Grant::Kind::tmpfs) {
      const auto found = find_file(ask.grant.source);
      if (!found && ask.optional && found.error().code == ErrorCode::not_found) continue;
      if (!found) return cannot_open(ask.asked_by, found.error());
      if (ask.grant.target.empty()) ask.grant.target = ask.grant.source;
      ask.grant.source = found->path;
    }
    all.push_back(std::move(ask));
  }
  return all;
}

// Where the program would run. What only a grant makes stays as it is.
Result<std::string> resolve_cwd(const policy::Asks& asks) {
  // A place in the root that was given.
  if (!asks.request.root.empty()) return asks.request.cwd.empty() ? "/" : asks.request.cwd;
  std::string cwd = asks.request.cwd;
  if (cwd.empty() && asks.manifest && asks.manifest->cwd) {
    cwd = asks.bundle + "/" + asks.manifest->cwd->value;
  }
  std::string wanted = cwd.empty() ? "." : cwd;
  for (const auto& ask : asks.grants) {
    const std::filesystem::path target(ask.grant.target);
    const std::string below = std::filesystem::path(wanted).lexically_relative(target);
    const bool inside = wanted.starts_with('/') && !below.empty() && !below.starts_with("..");
    if (inside && ask.grant.target != ask.grant.source) return wanted;
  }
  const auto found = find_file(wanted);
  if (!found) {
    return cannot_open({.file = cwd.empty() ? "the current directory" : "--cwd"}, found.error());
  }
  return found->path;
}

// Without a policy and a manifest nothing has to be known about the host.
bool has_to_look(const policy::Policy& policy, const PolicyQuestion& question) {
  return !policy.ceilings.empty() || question.manifest.has_value();
}

Result<void> look(policy::Asks& asks, policy::Surroundings& here) {
  auto grants = resolve(std::move(asks.grants));
  if (!grants) return std::unexpected(std::move(grants).error());
  asks.grants = *std::move(grants);
  if (!asks.request.root.empty()) {
    auto root = find_file(asks.request.root);
    if (!root) return cannot_open({.file = "--rootfs"}, root.error());
    asks.request.root = root->path;
  }
  auto cwd = resolve_cwd(asks);
  if (!cwd) return std::unexpected(std::move(cwd).error());
  here.cwd = *std::move(cwd);
  if (asks.manifest) here.mcp_home = mcp_home();
  return {};
}

}  // namespace

Result<LiveRun> take_slot(const policy::Policy& policy, PolicyQuestion& question) {
  const auto most = policy::most_live_runs(policy);
  if (!most) return LiveRun();
  const auto runs = LiveRuns::open(LiveRuns::usual_directory());
  if (!runs) return std::unexpected(runs.error());
  auto slot = runs->enter(most->place.file, most->value);
  if (slot) return slot;
  const bool all_taken =
      slot.error().code == ErrorCode::resource_exhausted && slot.error().os_error == 0;
  if (!all_taken) return slot;
  question.live_runs = most->value;
  return LiveRun();
}

Result<PolicyAnswer> ask_policy(const policy::Policy& policy, const PolicyQuestion& question) {
  policy::Asks asks{
      .request = question.request, .secrets = question.secrets, .tools = question.tools};
  if (question.manifest) {
    asks.manifest = question.manifest->manifest;
    asks.bundle = question.manifest->bundle;
  }
  asks.grants = collect_grants(policy, asks);
  policy::Surroundings here{.environment = callers_environment(),
                            .own_directory = question.own_directory,
                            .backend = question.backend,
                            .isolates = question.isolates,
                            .usual = question.usual,
                            .preferred = question.preferred,
                            .live_runs = question.live_runs};
  const bool looked = has_to_look(policy, question);
  if (looked) {
    if (names_users(policy)) here.user = user_of(question);
    if (auto ok = look(asks, here); !ok) return std::unexpected(std::move(ok).error());
  }

  PolicyAnswer answer{.evaluation = evaluate(policy, asks, here)};
  answer.evaluation.request.links_resolved = looked && question.isolates;
  // A root is refused then, for it has programs of its own.
  if (!restricts_programs(policy) || !question.request.root.empty()) return answer;
  auto programs = check_programs(answer.evaluation.request, here.cwd, needs_digests(policy),
                                 !question.isolates);
  if (!programs) return std::unexpected(std::move(programs).error());
  judge_programs(policy, programs->files, asks, answer.evaluation);
  answer.evaluation.request = std::move(programs->request);
  answer.held = std::move(programs->held);
  return answer;
}

}  // namespace cordon::execution
