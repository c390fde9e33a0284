// Ceiling: what one file, or one profile of it, allows at most. Plain data.
//
// What is not set allows everything that the caller may do anyway. A policy is a list of ceilings,
// and something is allowed if every one of them allows it: so none can widen another, whatever it
// says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cordon/clock.h"
#include "cordon/isolation.h"
#include "policy/place.h"
#include "policy/tool_rules.h"

namespace cordon::policy {

using Texts = std::vector<Placed<std::string>>;
template <typename T>
using Ask = std::optional<Placed<T>>;  // or the bound of one
using TextList = Ask<Texts>;

// The most of everything that is counted. Also what a manifest asks for.
struct LimitValues {
  Ask<Duration> timeout{};
  Ask<Duration> grace{};
  Ask<Duration> cpu_time{};
  Ask<std::uint64_t> cpu{};  // millicores
  Ask<std::uint64_t> memory{};
  Ask<std::uint64_t> pids{};
  Ask<std::uint64_t> files{};
  Ask<std::uint64_t> file_size{};
  Ask<std::uint64_t> output{};
  Ask<std::uint64_t> max_output_buffer{};  // C125
  Ask<std::uint64_t> max_processes{};      // runs alive at once (C124)
  Ask<bool> workdir{};  // of defaults alone: a private directory, unless another is asked for
};

// What the arguments of a program have to be. None set: anything.
struct ArgumentRule {
  TextList exact{};
  TextList prefix{};   // the first ones; anything may follow
  TextList pattern{};  // a glob for each argument; as many arguments as globs
};

struct ProgramRule {
  Placed<std::string> path{};  // absolute, links resolved; "*" matches any characters
  Ask<std::string> sha256{};   // 64 digits in lower case
  ArgumentRule arguments{};
};

struct PathRules {
  TextList cwd{};   // allowed_paths (C127)
  TextList read{};  // grants, at or below one of these
  TextList write{};
  TextList rootfs{};     // roots and images, at or below one of these; else as `read`
  TextList deny_read{};  // these win
  TextList deny_write{};
};

struct EnvironmentRules {
  TextList pass{};      // the caller's, by name or glob
  TextList settable{};  // what a request or manifest may set
  Ask<bool> clean{};    // nothing of the caller's
  std::vector<std::pair<std::string, Placed<std::string>>> set{};
  TextList allow_dangerous{};
};

struct AuditSettings {
  Place place{};
  Ask<std::string> directory{};
  Ask<std::string> key_file{};
  Ask<bool> durable{};
  Ask<bool> required{};
  Ask<std::uint64_t> max_file_size{};
  Ask<std::string> on_failure{};  // "refuse" or "continue"
};

enum class Delivery : std::uint8_t { env, fd, file };

// Where a secret comes from. Only names: nothing here is secret itself.
struct SecretRule {
  enum class Kind : std::uint8_t { file, env, fd, command };
  Place place{};
  Kind kind = Kind::file;
  std::string from{};                  // file: path; env: name; fd: number
  std::vector<std::string> command{};  // command
  Delivery delivery = Delivery::env;
};

struct GrantLists {
  TextList read{};
  TextList write{};
};

struct Ceiling {
  std::string name{};   // the file, or "FILE, profile NAME"
  Place place{};        // where it begins
  bool is_root = true;  // a file that was named; else an include or a profile of one

  LimitValues limits{};
  LimitValues defaults{};  // for what nobody asks for; never above the limits
  std::optional<std::vector<ProgramRule>> programs{};
  Place programs_place{};
  TextList denied_programs{};
  PathRules paths{};
  GrantLists grants{};  // what every program gets; asks like any other
  Ask<Network> network{};
  Ask<bool> unix_sockets{};
  EnvironmentRules env{};
  TextList users{};
  TextList backends{};
  std::optional<AuditSettings> audit{};
  std::optional<std::map<std::string, SecretRule>> secrets{};
  Place secrets_place{};
  std::optional<ToolRules> tools{};  // of MCP servers
};

}  // namespace cordon::policy
