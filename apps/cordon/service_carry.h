// How the library's types travel to a service and back. Pure.
//
// Every field is named here, also those that are not carried: a new one does not compile until it
// is decided what becomes of it.
#pragma once

#include "cordon/outcome.h"
#include "cordon/request.h"
#include "service_wire.h"

namespace cordon {

// Beside the types, so that they are found.

template <typename Codec>
void carry(Codec& codec, EnvVar& variable) {
  auto& [name, value] = variable;
  codec.all(name, value);
}

template <typename Codec>
void carry(Codec& codec, Grant& grant) {
  auto& [kind, source, target, size] = grant;
  codec.all(kind, source, target, size);
}

template <typename Codec>
void carry(Codec& codec, User& user) {
  auto& [uid, gid] = user;
  codec.all(uid, gid);
}

template <typename Codec>
void carry(Codec& codec, Limits& limits) {
  auto& [cpu_time, cpu_millicores, memory, file_size, files, processes, output] = limits;
  codec.all(cpu_time, cpu_millicores, memory, file_size, files, processes, output);
}

// The descriptor goes beside the message.
template <typename Codec>
void carry(Codec& codec, Pin& pin) {
  auto& [path, fd] = pin;
  (void)fd;
  codec.all(path);
}

// There is no tenant without a name, so none can be made first and filled in then.
template <typename Codec>
void carry_tenant(Codec& codec, std::optional<Tenant>& tenant) {
  std::string name = tenant ? tenant->name() : std::string();
  codec.all(name);
  tenant.reset();
  if (name.empty()) return;
  if (auto named = Tenant::named(std::move(name))) {
    tenant = *std::move(named);
  } else {
    codec.refuse();
  }
}

template <typename Codec>
void carry(Codec& codec, Request& request) {
  auto& [program, args, argv0, cwd, env, env_pass, secrets, in, out, err, terminal, timeout, grace,
         cancel, limits, end_at_process_limit, cgroup_parent, root, grants, pins, links_resolved,
         network, unix_sockets, user, explain, reuse, event_buffer, overflow] = request;
  codec.all(program, args, argv0, cwd, env, env_pass, limits, end_at_process_limit, cgroup_parent,
            root, grants, pins, links_resolved, network, unix_sockets, user);
  carry_tenant(codec, reuse);
  // Descriptors that go beside the message.
  (void)in, (void)out, (void)err;
  // The client's own part: it waits, reads and ends the run.
  (void)timeout, (void)grace, (void)cancel, (void)event_buffer, (void)overflow;
  // Never sent: see why_not_carried().
  (void)secrets, (void)terminal, (void)explain;
}

template <typename Codec>
void carry(Codec& codec, Error& error) {
  auto& [code, stage, os_error, message] = error;
  codec.all(code, stage, os_error, message);
}

template <typename Codec>
void carry(Codec& codec, Termination& termination) {
  auto& [type, code, signal, duration] = termination;
  codec.all(type, code, signal, duration);
}

template <typename Codec>
void carry(Codec& codec, Usage& usage) {
  auto& [cpu_user, cpu_system, peak, anonymous, cache, processes] = usage;
  codec.all(cpu_user, cpu_system, peak, anonymous, cache, processes);
}

template <typename Codec>
void carry(Codec& codec, LimitHit& hit) {
  auto& [name, limit, observed, evidence] = hit;
  codec.all(name, limit, observed, evidence);
}

template <typename Codec>
void carry(Codec& codec, Denial& denial) {
  auto& [kind, what, access, allow, reason, count, grant, network] = denial;
  codec.all(kind, what, access, allow, reason, count, grant, network);
}

template <typename Codec>
void carry(Codec& codec, Guarantee& guarantee) {
  auto& [level, by, note] = guarantee;
  codec.all(level, by, note);
}

template <typename Codec>
void carry(Codec& codec, Enforcement& enforcement) {
  auto& [memory, cpu, processes, filesystem, network, syscalls, capabilities, timeout] =
      enforcement;
  codec.all(memory, cpu, processes, filesystem, network, syscalls, capabilities, timeout);
}

template <typename Codec>
void carry(Codec& codec, Outcome& outcome) {
  auto& [id, verdict, termination, exit_code, timed_out, memory_exceeded, wall, usage, output_bytes,
         output_truncated, limit, limits_hit, denials, denials_omitted, hint, enforcement, backend,
         launch, launch_note, error, out, err] = outcome;
  codec.all(id, verdict, termination, exit_code, timed_out, memory_exceeded, wall, usage,
            output_bytes, output_truncated, limit, limits_hit, denials, denials_omitted, hint,
            enforcement, backend, launch, launch_note, error, out, err);
}

}  // namespace cordon

namespace cordon::app::service {

template <>
inline constexpr Grant::Kind kLast<Grant::Kind> = Grant::Kind::tmpfs;
template <>
inline constexpr Network kLast<Network> = Network::host;
template <>
inline constexpr ErrorCode kLast<ErrorCode> = ErrorCode::system;
template <>
inline constexpr Termination::Type kLast<Termination::Type> = Termination::Type::timeout;
template <>
inline constexpr Denial::Kind kLast<Denial::Kind> = Denial::Kind::exec;
template <>
inline constexpr Guarantee::Level kLast<Guarantee::Level> = Guarantee::Level::none;
template <>
inline constexpr Launch kLast<Launch> = Launch::reused;
template <>
inline constexpr Verdict kLast<Verdict> = Verdict::failed_to_start;

// What every service is told.

struct Signal {
  int number = 0;
  bool tree = false;
};
template <typename Codec>
void carry(Codec& codec, Signal& value) {
  auto& [number, tree] = value;
  codec.all(number, tree);
}

struct Stop {
  Duration grace{0};
};
template <typename Codec>
void carry(Codec& codec, Stop& value) {
  auto& [grace] = value;
  codec.all(grace);
}

}  // namespace cordon::app::service
