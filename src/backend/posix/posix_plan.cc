// What PosixChild::launch() and child_main() do, in their order, for people.
#include <fmt/format.h>

#include <utility>

#include "backend/posix/child_side.h"
#include "backend/posix/lookup.h"
#include "backend/posix/posix_backend.h"
#include "backend/posix/posix_child.h"
#include "backend/posix/rlimits.h"

namespace cordon::posix {
namespace {

std::string source_of(const Input& in) {
  switch (in.kind) {
    case Input::Kind::none:
      return "empty";
    case Input::Kind::inherit:
      return "the caller's";
    case Input::Kind::descriptor:
      return fmt::format("descriptor {}", in.fd);
    case Input::Kind::pipe:
      return "a pipe";
    case Input::Kind::bytes:
      return fmt::format("{} bytes given", in.data.size());
  }
  return {};
}

std::string target_of(const Output& out) {
  switch (out.kind) {
    case Output::Kind::events:
      return "read by the supervisor";
    case Output::Kind::inherit:
      return "the caller's";
    case Output::Kind::descriptor:
      return fmt::format("descriptor {}", out.fd);
    case Output::Kind::discard:
      return "discarded";
  }
  return {};
}

std::string streams_of(const Request& request) {
  if (request.terminal) return "stdin, stdout and stderr are the terminal";
  return fmt::format("stdin: {}; stdout: {}; stderr: {}", source_of(request.in),
                     target_of(request.out), target_of(request.err));
}

}  // namespace

Result<Plan> PosixBackend::plan(const Request& request, const Limits& limits) const {
  if (auto ok = check(request, limits); !ok) return std::unexpected(std::move(ok.error()));
  auto path = find_program(request.program, environment_for(request));
  if (!path) return std::unexpected(std::move(path.error()));

  Plan plan{.backend = std::string(name()), .steps = {}, .enforcement = enforcement_of(limits)};
  const auto step = [&](std::string what, std::string detail) {
    plan.steps.push_back({std::move(what), std::move(detail)});
  };
  if (request.terminal) {
    step("terminal", "a session with a terminal of its own");
  } else {
    step("process group", "of its own, to be signalled and killed as one");
  }
  step("streams", streams_of(request));
  for (const Secret& secret : request.secrets) {
    step("secret", fmt::format("{} by {}", secret.name, to_string(secret.delivery)));
  }
  step("close", "every other descriptor of the caller");
  if (!request.cwd.empty()) step("directory", request.cwd);
  RlimitSetting rlimits[kMaxRlimits];
  const std::size_t count = rlimits_for(limits, rlimits);
  for (std::size_t i = 0; i < count; ++i) {
    step("limit", fmt::format("{} {}", limit_name(rlimits[i].resource), rlimits[i].soft));
  }
  step("signals", "default actions, none blocked");
  step("execute", *std::move(path));
  return plan;
}

}  // namespace cordon::posix
