#include <array>

#include "option_values.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

Result<void> apply_policy_file(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.policies.push_back(value);
  return {};
}

Result<void> apply_profile(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no profile");
  options.profile = value;
  return {};
}

Result<void> apply_manifest(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.manifest = value;
  return {};
}

constexpr std::string_view kPolicy = "Policy";

constexpr auto kTable = std::to_array<RunOption>({
    {kPolicy,
     {"--policy", "FILE",
      "allow no more than FILE does, besides the site's policy\n"
      "/etc/cordon/policy.toml, which always holds; repeatable"},
     apply_policy_file},
    {kPolicy,
     {"--profile", "NAME",
      "allow no more than this profile of them, or the built-in\n"
      "one for MCP servers: mcp"},
     apply_profile},
    {kPolicy,
     {"--manifest", "FILE",
      "run what FILE names, with what it asks for; PROGRAM is\n"
      "left out, and each ARG follows those of FILE"},
     apply_manifest},
});

}  // namespace

std::span<const RunOption> policy_options() { return kTable; }

}  // namespace cordon::app
