#include <algorithm>
#include <limits>
#include <string>

#include "base/errors.h"
#include "cordon/request.h"
#include "request/validate_secrets.h"

namespace cordon {
namespace {

using base::fail;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::invalid_argument, "validate", std::move(message));
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<void> validate_strings(const Request& r) {
  if (r.program.empty()) return bad("program is empty: name the program to run");
  if (has_nul(r.program)) return bad("program contains a NUL byte: remove it");
  if (has_nul(r.argv0)) return bad("argv0 contains a NUL byte: remove it");
  for (std::size_t i = 0; i < r.args.size(); ++i) {
    if (has_nul(r.args[i])) {
      return bad("argument " + std::to_string(i + 1) + " contains a NUL byte: remove it");
    }
  }
  if (has_nul(r.argv0)) return bad("argv0 contains a NUL byte: remove it");
  if (has_nul(r.cwd)) return bad("cwd contains a NUL byte: remove it");
  for (const EnvVar& var : r.env) {
    if (var.name.empty() || var.name.find('=') != std::string::npos || has_nul(var.name)) {
      // Not what follows a '=': it may be a secret (C65).
      return bad("environment variable name \"" +
                 var.name.substr(0, var.name.find_first_of(std::string_view("=\0", 2))) +
                 "\" is not valid: it must be non-empty, without '=' and NUL");
    }
    if (has_nul(var.value)) {
      return bad("the value of environment variable " + var.name +
                 " contains a NUL byte: remove it");
    }
  }
  return {};
}

Result<void> validate_framing(const Framing& framing, std::string_view field) {
  const std::string name(field);
  if (framing.mode == OutputMode::chunked && framing.chunk_size == 0) {
    return bad(name + ".framing.chunk_size is 0: choose at least 1 byte");
  }
  if (framing.max_frame == 0) return bad(name + ".framing.max_frame is 0: choose at least 1 byte");
  if (framing.max_depth == 0) return bad(name + ".framing.max_depth is 0: choose at least 1");
  return {};
}

Result<void> validate_streams(const Request& r) {
  if (r.in.kind == Input::Kind::descriptor && r.in.fd < 0) {
    return bad("in.fd is negative: give an open descriptor");
  }
  for (const auto& [output, name] : {std::pair{&r.out, "out"}, std::pair{&r.err, "err"}}) {
    if (output->kind == Output::Kind::descriptor && output->fd < 0) {
      return bad(std::string(name) + ".fd is negative: give an open descriptor");
    }
    if (auto ok = validate_framing(output->framing, name); !ok) return ok;
  }
  if (r.terminal && (r.in.kind != Input::Kind::pipe || r.out.kind != Output::Kind::events)) {
    return bad("a terminal needs in = Input::pipe() and out = Output::events()");
  }
  if (r.event_buffer == 0) return bad("event_buffer is 0: choose at least 1 byte");
  return {};
}

// What a path means on a host is for the plan; here only what means nothing anywhere.
Result<void> validate_grant(const Grant& grant, std::size_t index) {
  const std::string name = "grants[" + std::to_string(index) + "].";
  const auto check = [&](const std::string& path, const char* field) -> Result<void> {
    if (has_nul(path)) return bad(name + field + " contains a NUL byte: remove it");
    if (!path.starts_with('/')) {
      return bad(name + field + " \"" + path + "\" is not absolute: write it from / on");
    }
    return {};
  };
  if (grant.kind == Grant::Kind::tmpfs) return check(grant.target, "target");
  if (auto ok = check(grant.source, "source"); !ok) return ok;
  return grant.target.empty() ? Result<void>{} : check(grant.target, "target");
}

Result<void> validate_isolation(const Request& r) {
  if (has_nul(r.root)) return bad("root contains a NUL byte: remove it");
  if (!r.root.empty() && !r.root.starts_with('/')) {
    return bad("root \"" + r.root + "\" is not absolute: write it from / on");
  }
  for (std::size_t i = 0; i < r.grants.size(); ++i) {
    if (auto ok = validate_grant(r.grants[i], i); !ok) return ok;
  }
  for (const Pin& pin : r.pins) {
    if (has_nul(pin.path) || !pin.path.starts_with('/')) {
      return bad("a pinned path is not absolute, or contains a NUL byte: write it from / on");
    }
    if (pin.fd < 0) return bad("the pin of " + pin.path + " has no descriptor: open the file");
  }
  if (has_nul(r.cgroup_parent)) return bad("cgroup_parent contains a NUL byte: remove it");
  if (("/" + r.cgroup_parent + "/").find("/../") != std::string::npos) {
    return bad("cgroup_parent \"" + r.cgroup_parent + "\" contains \"..\": name the group itself");
  }
  // The kernel's "leave it as it is": as an id to change to, it changes nothing.
  constexpr std::uint32_t kNoId = std::numeric_limits<std::uint32_t>::max();
  if (r.user && (r.user->uid == kNoId || r.user->gid == kNoId)) {
    return bad("user has the id " + std::to_string(kNoId) + ", which is no user: choose another");
  }
  return {};
}

}  // namespace

Limits with_defaults(const Limits& asked, const Limits& defaults) {
  Limits all = asked;
  const auto fill = [](auto& field, const auto& fallback) {
    if (!field) field = fallback;
  };
  fill(all.cpu_time, defaults.cpu_time);
  fill(all.cpu_millicores, defaults.cpu_millicores);
  fill(all.memory_bytes, defaults.memory_bytes);
  fill(all.file_size_bytes, defaults.file_size_bytes);
  fill(all.open_files, defaults.open_files);
  fill(all.processes, defaults.processes);
  fill(all.output_bytes, defaults.output_bytes);
  return all;
}

Result<void> validate(const Limits& limits) {
  // Beyond this the OS's limit fields (and arithmetic on them) would overflow.
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto check = [](const auto& field, std::uint64_t least, std::string_view name,
                        std::string_view why) -> Result<void> {
    if (!field) return {};
    const auto value = static_cast<std::uint64_t>(*field);
    if (value < least) {
      return bad("limit " + std::string(name) + " is " + std::to_string(value) + ": " +
                 std::string(why));
    }
    if (value > kMost) return bad("limit " + std::string(name) + " is absurdly large: lower it");
    return {};
  };
  if (limits.cpu_time && *limits.cpu_time <= Duration{0}) {
    return bad("limit cpu_time is not positive: give the program some time");
  }
  if (auto r = check(limits.cpu_millicores, 1, "cpu_millicores", "give at least 1"); !r) return r;
  if (auto r = check(limits.memory_bytes, 1, "memory", "no program runs without memory"); !r) {
    return r;
  }
  if (auto r = check(limits.open_files, 3, "files", "stdin, stdout and stderr alone need 3"); !r) {
    return r;
  }
  if (auto r = check(limits.processes, 1, "processes", "the program itself needs 1"); !r) return r;
  if (auto r = check(limits.file_size_bytes, 0, "file_size", ""); !r) return r;
  return check(limits.output_bytes, 0, "output", "");
}

Result<void> validate(const Request& request) {
  if (auto ok = validate_strings(request); !ok) return ok;
  if (auto ok = validate_streams(request); !ok) return ok;
  if (auto ok = validate_isolation(request); !ok) return ok;
  if (auto ok = request::validate_secrets(request); !ok) return ok;
  if (request.timeout < Duration{0}) {
    return bad("timeout is negative: use 0 for the default or kNoTimeout for none");
  }
  if (request.grace < Duration{0}) return bad("grace is negative: use 0 to kill at once");
  return validate(request.limits);
}

}  // namespace cordon
