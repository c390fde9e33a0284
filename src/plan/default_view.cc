#include "plan/default_view.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/paths.h"

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

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSymlinks = {{
    {"/dev/fd", "/proc/self/fd"},
    {"/dev/stdin", "/proc/self/fd/0"},
    {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"},
    {"/dev/ptmx", "pts/ptmx"},
    {"/var/tmp", "/tmp"},
}};

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

}  // namespace

std::vector<View> default_view(const Identity& identity, Network network, const Limits& limits) {
  std::vector<View> all;
  all.reserve(base::system_directories().size() + kSystemFiles.size() + kNetworkFiles.size() +
              kDevices.size() + kSymlinks.size() + 8);
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
    all.push_back(made_file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n"));
  }
  all.push_back({.kind = Kind::tmpfs, .target = "/dev", .size = kDevSize});
  for (const std::string_view path : kDevices) {
    all.push_back({.kind = Kind::device, .target = std::string(path), .source = std::string(path)});
  }
  for (const auto& [path, to] : kSymlinks) {
    all.push_back({.kind = Kind::symlink, .target = std::string(path), .content = std::string(to)});
  }
  all.push_back({.kind = Kind::devpts, .target = "/dev/pts"});
  all.push_back(scratch("/dev/shm", limits));
  all.push_back(scratch("/tmp", limits));
  all.push_back({.kind = Kind::proc, .target = "/proc"});
  return all;
}

}  // namespace cordon::plan
