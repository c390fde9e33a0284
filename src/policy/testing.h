// For tests: policies from texts, without files.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/errors.h"
#include "policy/evaluate.h"

namespace cordon::policy {

using Files = std::map<std::string, std::string>;

inline ReadPolicy reader_of(Files files) {
  return [files = std::move(files)](const std::string& path) -> Result<PolicyText> {
    const auto at = files.find(path);
    if (at == files.end()) return base::fail(ErrorCode::not_found, "policy", path + " is missing");
    return PolicyText{path, at->second};
  };
}

// All of them are named, in the order of their names.
inline Result<Policy> try_policy(const Files& files, const std::string& profile = "") {
  std::vector<std::string> roots;
  for (const auto& [name, text] : files) roots.push_back(name);
  return assemble(roots, profile, reader_of(files), {.home = "/home/me"});
}

inline Policy policy_of(const Files& files, const std::string& profile = "") {
  auto policy = try_policy(files, profile);
  EXPECT_TRUE(policy) << policy.error().message;
  return policy ? *policy : Policy{};
}

inline std::string error_of(const std::string& text) {
  const auto policy = try_policy({{"site.toml", text}});
  return policy ? "no error" : policy.error().message;
}

inline Evaluation evaluate_all(const Policy& policy, Asks asks, Surroundings surroundings = {}) {
  if (surroundings.backend.empty()) surroundings.backend = "linux";
  if (asks.grants.empty()) asks.grants = collect_grants(policy, asks);
  return evaluate(policy, asks, surroundings);
}

inline std::string refusal(const Evaluation& evaluation) {
  const auto allowed = permitted(evaluation);
  return allowed ? "" : allowed.error().message;
}

}  // namespace cordon::policy
