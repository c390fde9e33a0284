// The evaluator: asks against ceilings. One for enforcement, `cordon policy check` and
// `cordon policy explain`.
//
// Pure. What has to be known about the host is given: paths with their links resolved, the
// caller's environment, the files that would be executed. Every ask becomes a decision with the
// place that asked and the place that decided, allowed or not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cordon/request.h"
#include "policy/manifest.h"
#include "policy/policy.h"

namespace cordon::policy {

struct Decision {
  std::string subject{};  // "memory", "read", "env TOKEN", "program" …
  std::string value{};    // what was asked for, or what is used when nobody asked
  bool allowed = true;
  Place decided_by{};     // built in: no file speaks of it
  Place asked_by{};       // built in: nobody asked, it is the default
  std::string message{};  // refused: both places, and what to do
};

// A grant with who asked for it. `grant.source` has its links resolved.
struct GrantAsk {
  Grant grant{};
  std::string asked_as{};  // the source before that
  Place asked_by{};
  bool optional = false;  // a policy's: left out if the host has no such file
};

// A secret by name; `source` as in SecretRule when the caller names one, too.
struct SecretAsk {
  std::string name{};
  std::optional<SecretRule> source{};
  Place asked_by{};
};

struct Asks {
  Request request{};
  std::optional<Manifest> manifest{};
  std::string bundle{};            // the directory of the manifest, links resolved
  std::vector<GrantAsk> grants{};  // of all sides; see collect_grants()
  std::vector<SecretAsk> secrets{};
  Texts tools{};  // of an MCP server, by name or glob
};

struct UserFacts {
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::string name{};         // empty: the uid is nobody's
  std::string group{};        // likewise
  std::uint32_t own_gid = 0;  // the group that belongs to the user
};

struct Surroundings {
  std::vector<std::string> environment{};  // the caller's, "NAME=value"
  std::string cwd{};                       // where the program would run, links resolved
  bool own_directory = false;  // it works in one made for it, if nothing asks for another: that
                               // where the caller is will not be shown
  std::string mcp_home{};      // for a manifest's program (C60)
  std::optional<UserFacts> user{};  // whom it would run as; nothing: an id of the run's own
  std::string backend{};
  bool isolates = true;     // whether that backend does
  Limits usual{};           // its limits for what nobody asks for
  LimitValues preferred{};  // before the usual ones, where no policy has a default
  std::uint64_t live_runs = 0;
};

// A file that would be executed: the program, or the interpreter of a script, and so on.
struct ProgramFile {
  std::string path{};    // links resolved
  std::string sha256{};  // empty if no rule needs it
  std::vector<std::string> args{};
  std::string role{};  // "program", "interpreter"
};

struct Evaluation {
  std::vector<Decision> decisions{};
  Request request{};  // as it may be run; complete only if everything is allowed
  std::vector<std::pair<std::string, SecretRule>> secrets{};
};

// The grants of the request, of the manifest and of the policy, before links are resolved.
[[nodiscard]] std::vector<GrantAsk> collect_grants(const Policy& policy, const Asks& asks);

// Everything but the program, which can be found only when its environment is known.
[[nodiscard]] Evaluation evaluate(const Policy& policy, const Asks& asks,
                                  const Surroundings& surroundings);
// Adds the decisions about what would be executed.
void judge_programs(const Policy& policy, const std::vector<ProgramFile>& files, const Asks& asks,
                    Evaluation& evaluation);

// The first refusal. Error: not_permitted, stage "policy"; the message names both places.
[[nodiscard]] Result<void> permitted(const Evaluation& evaluation);

}  // namespace cordon::policy
