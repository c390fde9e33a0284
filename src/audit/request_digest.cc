#include "audit/request_digest.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace cordon::audit {
namespace {

// What is not UTF-8 has no exact form in JSON, and paths may be anything.
std::string json(std::string_view text) {
  if (base::is_utf8(text)) return base::json_text(text);
  return base::JsonObject().add("sha256", base::json_text(base::to_hex(base::sha256(text)))).str();
}

std::string json(const User& user);
std::string json(const TerminalSize& size);
std::string json(const Tenant& tenant);
std::string json(bool value) { return base::json_bool(value); }
std::string json(Duration value) { return std::to_string(value.count()); }
std::string json(std::uint64_t value) { return std::to_string(value); }
std::string json(std::uint32_t value) { return std::to_string(value); }

template <typename T>
std::string json(const std::optional<T>& value) {
  return value ? json(*value) : "null";
}

template <typename T, typename Text>
std::string list(const std::vector<T>& values, const Text& text) {
  std::string all = "[";
  for (const T& value : values) {
    if (all.size() > 1) all += ',';
    all += text(value);
  }
  return all + ']';
}

// With their lengths, so that no two lists give the same bytes.
std::string digest_of(const std::vector<std::string>& args) {
  base::Sha256 all;
  for (const std::string& arg : args) {
    all.add(std::to_string(arg.size()) + ":");
    all.add(arg);
  }
  return base::to_hex(all.finish());
}

template <typename Enum>
std::string number(Enum value) {
  return std::to_string(static_cast<int>(value));
}

// The functions below name all fields of what they write, so that one that is new does not compile
// until it is decided here whether it counts.

std::string json(const Limits& limits) {
  const auto& [cpu_time, cpu_millicores, memory, file_size, open_files, processes, output] = limits;
  return base::JsonObject()
      .add("cpu_time_ns", json(cpu_time))
      .add("cpu_millicores", json(cpu_millicores))
      .add("memory_bytes", json(memory))
      .add("file_size_bytes", json(file_size))
      .add("open_files", json(open_files))
      .add("processes", json(processes))
      .add("output_bytes", json(output))
      .str();
}

std::string json(const Grant& grant) {
  const auto& [kind, source, target, size] = grant;
  return base::JsonObject()
      .add("kind", number(kind))
      .add("source", json(source))
      .add("target", json(target))
      .add("size", json(size))
      .str();
}

std::string json(const User& user) {
  const auto& [uid, gid] = user;
  return base::JsonObject().add("uid", json(uid)).add("gid", json(gid)).str();
}

std::string json(const TerminalSize& size) {
  const auto& [rows, columns] = size;
  return base::JsonObject().add("rows", number(rows)).add("columns", number(columns)).str();
}

std::string json(const Tenant& tenant) { return json(std::string_view(tenant.name())); }

// Without the value.
std::string json(const Secret& secret) {
  [[maybe_unused]] const auto& [name, value, delivery] = secret;
  return base::JsonObject().add("name", json(name)).add("delivery", number(delivery)).str();
}

// A descriptor's number says nothing; neither do those of pins.
std::string json(const Output& output) {
  [[maybe_unused]] const auto& [kind, fd, framing] = output;
  const auto& [mode, chunk_size, max_frame, max_depth] = framing;
  return base::JsonObject()
      .add("kind", number(kind))
      .add("mode", number(mode))
      .add("chunk_size", json(chunk_size))
      .add("max_frame", json(max_frame))
      .add("max_depth", number(max_depth))
      .str();
}

}  // namespace

std::string canonical_request(const Request& request) {
  [[maybe_unused]] const auto& [program, args, argv0, cwd, env, env_pass, secrets, in, out, err,
                                terminal, timeout, grace, cancel, limits, end_at_process_limit,
                                cgroup_parent, root, grants, pins, links_resolved, network,
                                unix_sockets, user, explain, reuse, event_buffer, overflow] =
      request;
  return base::JsonObject()
      .add("program", json(program))
      .add("args_sha256", json(digest_of(args)))
      .add("argv0", json(argv0))
      .add("cwd", json(cwd))
      .add("env", list(env, [](const EnvVar& one) { return json(one.name); }))
      .add("env_pass", list(env_pass, [](const std::string& one) { return json(one); }))
      .add("secrets", list(secrets, [](const Secret& one) { return json(one); }))
      .add("stdin", number(in.kind))
      .add("stdout", json(out))
      .add("stderr", json(err))
      .add("terminal", json(terminal))
      .add("timeout_ns", json(timeout))
      .add("grace_ns", json(grace))
      .add("limits", json(limits))
      .add("end_at_process_limit", json(end_at_process_limit))
      .add("cgroup_parent", json(cgroup_parent))
      .add("root", json(root))
      .add("grants", list(grants, [](const Grant& one) { return json(one); }))
      .add("pins", list(pins, [](const Pin& one) { return json(one.path); }))
      .add("links_resolved", json(links_resolved))
      .add("network", number(network))
      .add("unix_sockets", json(unix_sockets))
      .add("user", json(user))
      .add("explain", json(explain))
      .add("reuse", json(reuse))
      .add("event_buffer", json(event_buffer))
      .add("overflow", number(overflow))
      .str();
}

std::string request_digest(const Request& request) {
  return base::to_hex(base::sha256(canonical_request(request)));
}

}  // namespace cordon::audit
