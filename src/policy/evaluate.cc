#include "policy/evaluate.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "policy/judges.h"
#include "request/environment.h"

namespace cordon::policy {

void Case::allow(std::string subject, std::string value, const Place& decided_by,
                 const Place& asked_by) const {
  result.decisions.push_back({.subject = std::move(subject),
                              .value = std::move(value),
                              .allowed = true,
                              .decided_by = decided_by,
                              .asked_by = asked_by});
}

void Case::refuse(std::string subject, std::string value, const Place& decided_by,
                  const Place& asked_by, std::string message) const {
  result.decisions.push_back({.subject = std::move(subject),
                              .value = std::move(value),
                              .allowed = false,
                              .decided_by = decided_by,
                              .asked_by = asked_by,
                              .message = std::move(message)});
}

const Placed<std::string>* match(const Texts& list, std::string_view text) {
  const auto at = std::ranges::find_if(
      list, [&](const auto& one) { return request::glob_matches(one.value, text); });
  return at == list.end() ? nullptr : &*at;
}

std::vector<GrantAsk> collect_grants(const Policy& policy, const Asks& asks) {
  std::vector<GrantAsk> all;
  for (const Grant& grant : asks.request.grants) {
    const bool bound = !grant.target.empty() && grant.target != grant.source;
    const char* name = grant.kind == Grant::Kind::read ? "--read" : "--write";
    if (grant.kind == Grant::Kind::tmpfs) name = "--tmpfs";
    if (bound && grant.kind != Grant::Kind::tmpfs) name = "--bind";
    all.push_back({.grant = grant, .asked_as = grant.source, .asked_by = option(name)});
  }
  const auto add = [&](Grant::Kind kind, const Placed<std::string>& path, bool optional) {
    std::string source = path.value;
    if (!source.starts_with('/')) source = asks.bundle + "/" + source;
    all.push_back({.grant = {.kind = kind, .source = source},
                   .asked_as = source,
                   .asked_by = path.place,
                   .optional = optional});
  };
  if (asks.manifest) {
    add(Grant::Kind::read, {asks.bundle, asks.manifest->place}, false);
    for (const auto& path : asks.manifest->read) add(Grant::Kind::read, path, false);
    for (const auto& path : asks.manifest->write) add(Grant::Kind::write, path, false);
  }
  for (const Ceiling& ceiling : policy.ceilings) {
    if (ceiling.grants.read) {
      for (const auto& path : ceiling.grants.read->value) add(Grant::Kind::read, path, true);
    }
    if (ceiling.grants.write) {
      for (const auto& path : ceiling.grants.write->value) add(Grant::Kind::write, path, true);
    }
  }
  return all;
}

Evaluation evaluate(const Policy& policy, const Asks& asks, const Surroundings& surroundings) {
  Evaluation result;
  result.request = asks.request;
  if (asks.manifest) {
    Request& request = result.request;
    request.program = asks.manifest->command.value;
    if (request.program.contains('/')) request.program = asks.bundle + "/" + request.program;
    request.args.insert(request.args.begin(), asks.manifest->args.begin(),
                        asks.manifest->args.end());
  }
  const Case all{policy, asks, surroundings, result};
  judge_backend(all);
  judge_limits(all);
  judge_network(all);
  judge_user(all);
  judge_paths(all);
  judge_environment(all);
  judge_secrets(all);
  judge_tools(all);
  return result;
}

Result<void> permitted(const Evaluation& evaluation) {
  for (const Decision& decision : evaluation.decisions) {
    if (!decision.allowed) {
      return base::fail(ErrorCode::not_permitted, "policy", decision.message);
    }
  }
  return {};
}

}  // namespace cordon::policy
