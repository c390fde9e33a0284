// The text of config.json.
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "backend/gvisor/oci_bundle.h"
#include "base/json_text.h"

namespace cordon::gvisor_backend {
namespace {

using base::json_bool;
using base::json_text;
using base::JsonObject;
using plan::View;
using Kind = plan::View::Kind;

constexpr unsigned kSetUid = 04000;
constexpr unsigned kSetGid = 02000;
constexpr unsigned kCreate = 0100;        // O_CREAT
constexpr unsigned kUnnamed = 020000000;  // the bit that makes O_TMPFILE of O_DIRECTORY

// Of JSON values that are text already.
std::string list(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return "[" + text + "]";
}

std::string texts(const std::vector<std::string>& values) {
  std::vector<std::string> quoted;
  quoted.reserve(values.size());
  for (const std::string& value : values) quoted.push_back(json_text(value));
  return list(quoted);
}

std::string rlimit(std::string_view name, std::uint64_t value) {
  const std::string number = std::to_string(value);
  return JsonObject().add("type", json_text(name)).add("soft", number).add("hard", number).str();
}

std::string rlimits(const Limits& limits) {
  std::vector<std::string> all{rlimit("RLIMIT_CORE", 0)};
  if (limits.open_files) all.push_back(rlimit("RLIMIT_NOFILE", *limits.open_files));
  if (limits.file_size_bytes) all.push_back(rlimit("RLIMIT_FSIZE", *limits.file_size_bytes));
  return list(all);
}

std::string mount(std::string_view at, std::string_view type, std::string_view source,
                  const std::vector<std::string>& options) {
  return JsonObject()
      .add("destination", json_text(at))
      .add("type", json_text(type))
      .add("source", json_text(source))
      .add("options", texts(options))
      .str();
}

std::string octal(std::uint32_t mode) {
  std::string digits;
  for (; mode != 0; mode /= 8) digits.insert(digits.begin(), static_cast<char>('0' + mode % 8));
  return "0" + digits;
}

// Nothing for what is part of the root, and what gVisor makes by itself.
std::string mount_of(const View& view, const std::string& source) {
  switch (view.kind) {
    case Kind::bind:
      return mount(view.target, "bind", source,
                   {"rbind", view.writable ? "rw" : "ro", "nosuid", "nodev"});
    case Kind::tmpfs:
      if (view.target == "/dev") return {};
      return mount(view.target, "tmpfs", "tmpfs",
                   {view.writable ? "rw" : "ro", "nosuid", "nodev",
                    "size=" + std::to_string(view.size), "mode=" + octal(view.mode)});
    case Kind::proc:
      return mount(view.target, "proc", "proc", {"nosuid", "noexec", "nodev"});
    case Kind::secrets:
    case Kind::file:
    case Kind::symlink:
    case Kind::device:
    case Kind::devpts:
      return {};
  }
  return {};
}

struct Condition {
  unsigned index = 0;
  unsigned bits = 0;  // all of them are set
};

std::string refuse(std::string_view call, const std::vector<Condition>& conditions) {
  std::vector<std::string> args;
  args.reserve(conditions.size());
  for (const auto& [index, bits] : conditions) {
    const std::string mask = std::to_string(bits);
    args.push_back(JsonObject()
                       .add("index", std::to_string(index))
                       .add("value", mask)
                       .add("valueTwo", mask)
                       .add("op", json_text("SCMP_CMP_MASKED_EQ"))
                       .str());
  }
  return JsonObject()
      .add("names", texts({std::string(call)}))
      .add("action", json_text("SCMP_ACT_ERRNO"))
      .add("errnoRet", std::to_string(EPERM))
      .add("args", list(args))
      .str();
}

// gVisor itself is the filter of everything else: what the program calls never reaches the host.
// But a file that it leaves behind in a write grant is the host's.
std::string filter() {
  constexpr std::array<std::pair<std::string_view, unsigned>, 6> kModes{
      {{"chmod", 1}, {"fchmod", 1}, {"fchmodat", 2}, {"creat", 1}, {"mknod", 1}, {"mknodat", 2}}};
  constexpr std::array<std::pair<std::string_view, unsigned>, 2> kOpens{
      {{"open", 1}, {"openat", 2}}};  // where the flags are; the mode comes next
  std::vector<std::string> rules;
  for (const unsigned bit : {kSetUid, kSetGid}) {
    for (const auto& [call, index] : kModes) rules.push_back(refuse(call, {{index, bit}}));
    for (const auto& [call, index] : kOpens) {
      for (const unsigned makes : {kCreate, kUnnamed}) {
        rules.push_back(refuse(call, {{index, makes}, {index + 1, bit}}));
      }
    }
  }
  return JsonObject()
      .add("defaultAction", json_text("SCMP_ACT_ALLOW"))
      .add("architectures", texts({"SCMP_ARCH_X86_64"}))
      .add("syscalls", list(rules))
      .str();
}

std::string namespaces() {
  std::vector<std::string> all;
  for (const std::string_view type : {"pid", "network", "ipc", "uts", "mount"}) {
    all.push_back(JsonObject().add("type", json_text(type)).str());
  }
  return list(all);
}

}  // namespace

std::string process_text(const BundleProcess& process) {
  const std::string none = "[]";
  JsonObject capabilities;
  for (const char* set : {"bounding", "effective", "inheritable", "permitted", "ambient"}) {
    capabilities.add(set, none);
  }
  return JsonObject()
      .add("terminal", json_bool(process.terminal))
      .add("user", JsonObject()
                       .add("uid", std::to_string(process.user.uid))
                       .add("gid", std::to_string(process.user.gid))
                       .str())
      .add("args", texts(process.argv))
      .add("env", texts(process.environment))
      .add("cwd", json_text(process.cwd))
      .add("capabilities", capabilities.str())
      .add("rlimits", rlimits(process.limits))
      .add("noNewPrivileges", "true")
      .str();
}

std::string config_text(const Bundle& bundle, const std::string& sources) {
  std::vector<std::string> mounts;
  for (std::size_t i = 0; i < bundle.views.size(); ++i) {
    const View& view = bundle.views[i].view;
    const std::string source = sources.empty() ? view.source : sources + "/" + std::to_string(i);
    if (auto text = mount_of(view, source); !text.empty()) mounts.push_back(std::move(text));
  }
  JsonObject linux_part;
  linux_part.add("namespaces", namespaces());
  if (bundle.filter) linux_part.add("seccomp", filter());
  return JsonObject()
      .add("ociVersion", json_text("1.0.2"))
      .add("process", process_text(bundle.process))
      .add("root", JsonObject().add("path", json_text("rootfs")).add("readonly", "true").str())
      .add("hostname", json_text("sandbox"))
      .add("mounts", list(mounts))
      .add("linux", linux_part.str())
      .str();
}

}  // namespace cordon::gvisor_backend
