#include "policy_options.h"

#include <utility>

#include "execution/policy_files.h"
#include "make_manager.h"
#include "policy/builtin_profiles.h"

namespace cordon::app {
namespace {

policy::SecretRule rule_of(const secrets::Source& source) {
  using From = secrets::Source::Kind;
  using To = policy::SecretRule::Kind;
  switch (source.kind) {
    case From::file:
      return {.kind = To::file, .from = source.place};
    case From::variable:
      return {.kind = To::env, .from = source.place};
    case From::descriptor:
      return {.kind = To::fd, .from = std::to_string(source.descriptor)};
    case From::command:
      return {.kind = To::command, .command = source.argv};
  }
  return {};
}

std::vector<policy::SecretAsk> secret_asks(const RunOptions& options) {
  std::vector<policy::SecretAsk> asks;
  for (const SecretAsk& asked : options.secrets.asks) {
    policy::SecretAsk ask{.name = asked.name, .asked_by = {.file = "--secret"}};
    if (asked.source) ask.source = rule_of(*asked.source);
    asks.push_back(std::move(ask));
  }
  return asks;
}

policy::Texts tool_asks(const RunOptions& options) {
  policy::Texts asks;
  for (const std::string& name : options.tools.allow) {
    asks.push_back({name, {.file = "--allow-tool"}});
  }
  return asks;
}

}  // namespace

Result<policy::Policy> load_policy(const RunOptions& options) {
  return execution::load_policy(options.policies, options.profile);
}

Result<JudgedRun> judge_run(const RunOptions& options, policy::Policy policy, Purpose purpose) {
  JudgedRun judged{
      .policy = std::move(policy), .answer = {}, .slot = {}, .name = {}, .version = {}};
  execution::PolicyQuestion question{.request = options.request,
                                     .secrets = secret_asks(options),
                                     .own_directory = options.workdir.wanted,
                                     .tools = tool_asks(options),
                                     .backend = std::string(backend_name(options.backend)),
                                     .isolates = options.backend != Backend::posix,
                                     .usual = usual_limits(options.backend)};
  if (options.mcp) {
    question.preferred = policy::mcp_defaults();
    if (!question.isolates) question.preferred.cpu.reset();  // it could not keep that
  }
  if (!options.manifest.empty()) {
    auto manifest = execution::load_manifest(options.manifest);
    if (!manifest) return std::unexpected(std::move(manifest).error());
    judged.name = manifest->manifest.name;
    judged.version = manifest->manifest.version;
    question.manifest = *std::move(manifest);
  }
  if (purpose == Purpose::run) {
    auto slot = execution::take_slot(judged.policy, question);
    if (!slot) return std::unexpected(std::move(slot).error());
    judged.slot = *std::move(slot);
  }
  auto answer = execution::ask_policy(judged.policy, question);
  if (!answer) return std::unexpected(std::move(answer).error());
  judged.answer = *std::move(answer);
  return judged;
}

Result<JudgedRun> apply_policy(RunOptions& options) {
  auto policy = load_policy(options);
  if (!policy) return std::unexpected(std::move(policy).error());
  if (options.request.cwd.empty() && policy::gives_workdir(*policy)) options.workdir.wanted = true;
  auto judged = judge_run(options, *std::move(policy), Purpose::plan);
  if (!judged) return judged;
  if (auto ok = policy::permitted(judged->answer.evaluation); !ok) {
    return std::unexpected(std::move(ok).error());
  }
  options.request = judged->answer.evaluation.request;
  return judged;
}

}  // namespace cordon::app
