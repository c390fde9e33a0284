// Whether what a program has asked for is refused by the sandbox, and what would allow it. Pure:
// the views of the plan, what was seen inside, and a function that looks at the host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "backend/linux/seccomp_observed.h"
#include "cordon/outcome.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// What the caller finds on the host.
struct HostFile {
  bool exists = false;          // false also if that cannot be told
  std::string path{};           // without symbolic links
  bool world_readable = false;  // by its own permissions
};
using HostLookup = std::function<HostFile(const std::string& path)>;

// What there is inside the sandbox.
struct InsideFile {
  enum class State : std::uint8_t { unknown, absent, present };
  State state = State::unknown;
  std::string path{};  // without symbolic links; if present
};

struct PathAttempt {
  std::string path{};  // absolute; as the program gave it, behind its directory
  Use use = Use::look;
  InsideFile inside{};
  InsideFile parent{};  // the directory it is in; for all uses from `create` on
};

struct SocketAttempt {
  bool send = false;
  int family = 0;
  std::string address{};  // as text: "127.0.0.1:80", or a path
  bool loopback = false;
  InsideFile inside{};  // of a path
};

// What the judge knows of the sandbox.
struct Surroundings {
  std::vector<plan::View> views{};  // that are really there
  Network network = Network::none;
  int landlock_abi = 0;
};

// Nothing: it is not refused, or by something else than the sandbox (there is no such file on the
// host either; permissions of the file itself), or that cannot be told.
[[nodiscard]] std::optional<Denial> judge(const PathAttempt& attempt, const Surroundings& around,
                                          const HostLookup& host);
[[nodiscard]] std::optional<Denial> judge(const SocketAttempt& attempt, const Surroundings& around,
                                          const HostLookup& host);

// "/a/./b//../c" → "/a/c", as text.
[[nodiscard]] std::string lexically_normal(std::string_view path);
// "/a/b" → "/a"; "/a" and "/" → "/".
[[nodiscard]] std::string parent_of(std::string_view normal);

}  // namespace cordon::linux_backend
