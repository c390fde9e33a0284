// Whatever a policy or a manifest holds, it is read or refused with its place; what was read can be
// evaluated.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policy/evaluate.h"

using namespace cordon;

namespace {

void check(bool holds, const char* what, const std::string& message) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s: %s\n", what, message.c_str());
  std::abort();
}

void try_policy(std::string_view text, const std::string& file) {
  const policy::ReadPolicy read = [&](const std::string& path) -> Result<policy::PolicyText> {
    return policy::PolicyText{path, std::string(text)};
  };
  const std::string roots[] = {file};
  const auto policy = policy::assemble(roots, "", read, {.home = "/home/me"});
  if (!policy) {
    check(policy.error().message.find(file.substr(0, 4)) != std::string::npos, "the file is named",
          policy.error().message);
    return;
  }
  policy::Asks asks;
  asks.request.limits.memory_bytes = 1;
  asks.request.env = {{"LD_PRELOAD", "x"}, {"A", "b"}};
  asks.request.env_pass = {"*"};
  asks.grants = policy::collect_grants(*policy, asks);
  auto evaluation = policy::evaluate(
      *policy, asks, {.environment = {"A=1", "LD_X=2", "T*=3"}, .cwd = "/srv", .backend = "linux"});
  policy::judge_programs(*policy, {{.path = "/bin/x", .role = "program"}}, asks, evaluation);
  for (const auto& decision : evaluation.decisions) {
    check(decision.allowed || !decision.message.empty(), "a refusal says why", decision.subject);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  try_policy(text, "fuzz.toml");
  try_policy(text, "fuzz.json");
  (void)policy::read_manifest(text, "fuzz.toml");
  (void)policy::read_manifest(text, "fuzz.json");
  return 0;
}
