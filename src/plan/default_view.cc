#include "plan/default_view.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/paths.h"
#include "plan/grants.h"

namespace cordon::plan {
namespace {

using Kind = View::Kind;

// Without these, common programs do not start or find nothing. Nothing in them is secret.
constexpr std::array<std::string_view, 19> kSystemFiles = {
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/services",
    "/etc/protocols",
    "/etc/mime.types",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    // Where other distributions keep what ssl/certs points to.
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    // A JDK's conf directory is a symlink to here; without it no JVM starts.
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-25-openjdk",
};

constexpr std::array<std::string_view, 2> kNetworkFiles = {"/etc/hosts", "/etc/resolv.conf"};

constexpr std::array<std::string_view, 6> kDevices = {"/dev/null",   "/dev/zero",    "/dev/full",
                                                      "/dev/random", "/dev/urandom", "/dev/tty"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kDeviceLinks = {{
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
}};

constexpr std::string_view kHosts = "127.0.0.1 localhost\n::1 localhost\n";

constexpr std::uint32_t kNobody = 65534;
constexpr std::uint64_t kDevSize = std::uint64_t{64} * 1024;

View host_path(std::string_view path) {
  return {.target = std::string(path), .source = std::string(path), .optional = true};
}

View made_file(std::string target, std::string content) {
  return {.kind = Kind::file, .target = std::move(target), .content = std::move(content)};
}

std::string passwd(const Identity& who) {
  std::string text = "root:x:0:0:root:/root:/usr/sbin/nologin\n";
  if (who.uid != 0 && who.uid != kNobody) {
    text += "user:x:" + std::to_string(who.uid) + ":" + std::to_string(who.gid) +
            ":user:/tmp:/bin/sh\n";
  }
  return text + "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
}

std::string group(const Identity& who) {
  std::string text = "root:x:0:\n";
  if (who.gid != 0 && who.gid != kNobody) text += "user:x:" + std::to_string(who.gid) + ":\n";
  return text + "nogroup:x:65534:\n";
}

View scratch(std::string target, const Limits& limits) {
  // What it holds counts as memory: more than the limit could never be used.
  return {.kind = Kind::tmpfs,
          .target = std::move(target),
          .writable = true,
          .size = std::min(kDefaultTmpfsSize, limits.memory_bytes.value_or(kDefaultTmpfsSize)),
          .mode = 01777};
}

// What is the sandbox's own, whatever its root is.
void add_own_places(std::vector<View>& all, const Limits& limits, bool var_tmp) {
  all.push_back({.kind = Kind::tmpfs, .target = "/dev", .size = kDevSize});
  for (const std::string_view path : kDevices) {
    all.push_back({.kind = Kind::device, .target = std::string(path), .source = std::string(path)});
  }
  for (const auto& [path, to] : kDeviceLinks) {
    all.push_back({.kind = Kind::symlink, .target = std::string(path), .content = std::string(to)});
  }
  if (var_tmp) all.push_back({.kind = Kind::symlink, .target = "/var/tmp", .content = "/tmp"});
  all.push_back({.kind = Kind::devpts, .target = "/dev/pts"});
  all.push_back(scratch("/dev/shm", limits));
  all.push_back(scratch("/tmp", limits));
  all.push_back({.kind = Kind::proc, .target = "/proc"});
}

}  // namespace

std::vector<View> default_view(const Identity& identity, Network network, const Limits& limits) {
  std::vector<View> all;
  all.reserve(base::system_directories().size() + kSystemFiles.size() + kNetworkFiles.size() +
              kDevices.size() + kDeviceLinks.size() + 8);
  for (const std::string_view path : base::system_directories()) all.push_back(host_path(path));
  for (const std::string_view path : kSystemFiles) all.push_back(host_path(path));
  all.push_back(made_file("/etc/passwd", passwd(identity)));
  all.push_back(made_file("/etc/group", group(identity)));
  if (network == Network::host) {
    for (const std::string_view path : kNetworkFiles) {
      View view = host_path(path);
      view.follow = true;  // resolv.conf is often a symlink into /run
      all.push_back(std::move(view));
    }
  } else {
    all.push_back(made_file("/etc/hosts", std::string(kHosts)));
  }
  add_own_places(all, limits, true);
  return all;
}

std::vector<View> rooted_view(const RootDirectory& root, const Identity& identity, Network network,
                              const Limits& limits) {
  std::vector<View> all;
  // Files appear as the program's own, as those of a grant do.
  const bool granted = !is_system(root.source);
  bool etc = false;
  bool var = false;
  for (const RootEntry& entry : root.entries) {
    if (std::ranges::find(kOwnPlaces, entry.path) != kOwnPlaces.end()) continue;
    etc |= base::at_or_below(entry.path, "/etc");
    var |= base::at_or_below(entry.path, "/var");
    if (entry.kind == RootEntry::Kind::symlink) {
      all.push_back({.kind = Kind::symlink, .target = entry.path, .content = entry.link});
    } else {
      all.push_back({.target = entry.path, .source = root.source + entry.path, .granted = granted});
    }
  }
  if (!etc) {
    all.push_back(made_file("/etc/passwd", passwd(identity)));
    all.push_back(made_file("/etc/group", group(identity)));
    if (network != Network::host) all.push_back(made_file("/etc/hosts", std::string(kHosts)));
  }
  if (network == Network::host) {
    // In place of the root's own, if there are such files to lie on.
    for (const std::string_view path : kNetworkFiles) {
      if (etc && std::ranges::find(root.network_files, path) == root.network_files.end()) continue;
      View view = host_path(path);
      view.follow = true;
      all.push_back(std::move(view));
    }
  }
  add_own_places(all, limits, !var);
  return all;
}

}  // namespace cordon::plan
