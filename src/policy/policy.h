// Policy: the ceilings that hold for a run, all of them at once. Immutable once assembled.
//
// Pure: files are read by whoever calls assemble().
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cordon/error.h"
#include "policy/ceiling.h"
#include "policy/read_parts.h"

namespace cordon::policy {

struct Policy {
  std::vector<Ceiling> ceilings{};
  std::vector<std::string> files{};     // every one that was read
  std::vector<std::string> profiles{};  // the names of all that the files have
  std::string digest{};                 // of all of them; empty without any
};

struct PolicyText {
  std::string path{};  // the file's one true name: how a cycle is noticed
  std::string text{};
};
using ReadPolicy = std::function<Result<PolicyText>(const std::string& path)>;

inline constexpr std::size_t kMostIncludes = 8;  // deep
inline constexpr std::size_t kMostFiles = 64;

// Reads `roots` and what they include, and adds the profile of that name ("": none) of each file
// that has it, and the built-in one (builtin_profiles.h). Errors: invalid_argument (a file is
// wrong; includes that go in a circle or too deep, the chain is named; two files that contradict
// each other; no file has the profile), and those of `read`.
[[nodiscard]] Result<Policy> assemble(std::span<const std::string> roots,
                                      const std::string& profile, const ReadPolicy& read,
                                      const PathContext& context);

// Of all ceilings, the strictest of each setting; nothing if none speaks of it.
[[nodiscard]] std::optional<AuditSettings> audit_of(const Policy& policy);
// The secrets that a program may get. An empty optional: no ceiling limits them.
[[nodiscard]] std::optional<std::map<std::string, SecretRule>> secrets_of(const Policy& policy);
// What is said about the tools of MCP servers; a call is allowed if all of them allow it.
[[nodiscard]] std::vector<ToolRules> tools_of(const Policy& policy);
// Whether a program that is given no directory gets a private one.
[[nodiscard]] bool gives_workdir(const Policy& policy);
// How many runs may be alive at once (C124); nothing: any number.
[[nodiscard]] Ask<std::uint64_t> most_live_runs(const Policy& policy);
// Whether it matters which program is run; and what is in it.
[[nodiscard]] bool restricts_programs(const Policy& policy);
[[nodiscard]] bool needs_digests(const Policy& policy);

}  // namespace cordon::policy
