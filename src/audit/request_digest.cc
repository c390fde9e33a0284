#include "audit/request_digest.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "base/sha256.h"

namespace cordon::audit {
namespace {

std::string json(std::string_view text) { return base::json_text(text); }

std::string json(const User& user);
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

std::string json(const Limits& limits) {
  return base::JsonObject()
      .add("cpu_time_ns", json(limits.cpu_time))
      .add("cpu_millicores", json(limits.cpu_millicores))
      .add("memory_bytes", json(limits.memory_bytes))
      .add("file_size_bytes", json(limits.file_size_bytes))
      .add("open_files", json(limits.open_files))
      .add("processes", json(limits.processes))
      .add("output_bytes", json(limits.output_bytes))
      .str();
}

std::string json(const Grant& grant) {
  return base::JsonObject()
      .add("kind", json(std::uint64_t{static_cast<std::uint8_t>(grant.kind)}))
      .add("source", json(grant.source))
      .add("target", json(grant.target))
      .add("size", json(grant.size))
      .str();
}

std::string json(const User& user) {
  return base::JsonObject().add("uid", json(user.uid)).add("gid", json(user.gid)).str();
}

template <typename Enum>
std::string number(Enum value) {
  return std::to_string(static_cast<int>(value));
}

}  // namespace

std::string canonical_request(const Request& request) {
  return base::JsonObject()
      .add("program", json(request.program))
      .add("args_sha256", json(digest_of(request.args)))
      .add("cwd", json(request.cwd))
      .add("env", list(request.env, [](const EnvVar& one) { return json(one.name); }))
      .add("env_pass", list(request.env_pass, [](const std::string& one) { return json(one); }))
      .add("stdin", number(request.in.kind))
      .add("stdout", number(request.out.kind))
      .add("stderr", number(request.err.kind))
      .add("terminal", json(request.terminal.has_value()))
      .add("timeout_ns", json(request.timeout))
      .add("grace_ns", json(request.grace))
      .add("limits", json(request.limits))
      .add("end_at_process_limit", json(request.end_at_process_limit))
      .add("cgroup_parent", json(request.cgroup_parent))
      .add("grants", list(request.grants, [](const Grant& one) { return json(one); }))
      .add("pins", list(request.pins, [](const Pin& one) { return json(one.path); }))
      .add("network", number(request.network))
      .add("unix_sockets", json(request.unix_sockets))
      .add("user", json(request.user))
      .str();
}

std::string request_digest(const Request& request) {
  return base::to_hex(base::sha256(canonical_request(request)));
}

}  // namespace cordon::audit
