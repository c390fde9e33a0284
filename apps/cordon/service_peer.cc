#include "service_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/paths.h"
#include "concat.h"

namespace cordon::app::service {
namespace {

constexpr const char* kStage = "peer";
constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD, Linux 6.5

std::unexpected<Error> not_permitted(std::string why) {
  return base::fail(ErrorCode::not_permitted, kStage, std::move(why));
}

std::optional<std::string> read_all(int directory, const char* name) {
  const base::Fd file(::openat(directory, name, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 8192> buffer{};
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

std::optional<std::string> read_link(int directory, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(directory, name.c_str(), target.data(), target.size());
  if (size < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(size));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct StatusLine {
  std::string_view field;
  const char* name;
};
constexpr auto kStatus = std::to_array<StatusLine>({
    {"Umask", "umask"},
    {"Uid", "user ids"},
    {"Gid", "group ids"},
    {"Groups", "supplementary groups"},
    {"CapInh", "capabilities"},
    {"CapPrm", "capabilities"},
    {"CapEff", "capabilities"},
    {"CapBnd", "capabilities"},
    {"CapAmb", "capabilities"},
    {"NoNewPrivs", "no_new_privs"},
    {"Seccomp", "seccomp filter"},
    {"Seccomp_filters", "seccomp filters"},
    {"Cpus_allowed", "processors it may use"},
    {"Mems_allowed", "memory nodes it may use"},
});

struct File {
  const char* path;
  const char* name;
};
// Links and files whose whole content has to be the same. Not every kernel has the last ones.
constexpr auto kLinks = std::to_array<File>({{"ns/mnt", "mount namespace"},
                                             {"ns/net", "network namespace"},
                                             {"ns/ipc", "ipc namespace"},
                                             {"ns/uts", "uts namespace"},
                                             {"ns/cgroup", "cgroup namespace"},
                                             {"ns/time", "time namespace"},
                                             {"root", "root directory"}});
constexpr auto kFiles = std::to_array<File>({{"limits", "resource limits"},
                                             {"oom_score_adj", "oom_score_adj"},
                                             {"attr/current", "security label"}});

void add_status(Surroundings& all, const std::string& status) {
  for (const std::string_view line : lines_of(status)) {
    const std::size_t colon = line.find(':');
    const auto known = std::ranges::find(kStatus, line.substr(0, colon), &StatusLine::field);
    if (known == kStatus.end()) continue;
    all.facts.push_back({known->name, std::string(line)});
  }
}

// Hierarchies that are only names limit nothing.
void add_cgroups(Surroundings& all, const std::string& text) {
  for (const std::string_view line : lines_of(text)) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    if (controllers.starts_with("name=")) continue;
    all.cgroups.emplace_back(line.substr(first + 1));
  }
}

// Of the process whose directory in /proc this is. Nothing: it cannot be read, or is gone.
std::optional<Surroundings> read_surroundings(int proc, pid_t pid) {
  Surroundings all;
  auto user = read_link(proc, "ns/user");
  auto pids = read_link(proc, "ns/pid");
  const auto status = read_all(proc, "status");
  const auto cgroup = read_all(proc, "cgroup");
  if (!user || !pids || !status || !cgroup) return std::nullopt;
  all.user_namespace = *std::move(user);
  all.pid_namespace = *std::move(pids);
  add_status(all, *status);
  add_cgroups(all, *cgroup);
  for (const File& link : kLinks) {
    all.facts.push_back({link.name, read_link(proc, link.path).value_or("")});
  }
  for (const File& file : kFiles) {
    all.facts.push_back({file.name, read_all(proc, file.path).value_or("")});
  }
  all.facts.push_back(
      {"niceness", std::to_string(::getpriority(PRIO_PROCESS, static_cast<id_t>(pid)))});
  return all;
}

base::Fd open_proc(pid_t pid) {
  const std::string path = concat("/proc/", std::to_string(pid));
  return base::Fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool alive(int pidfd) {
  pollfd ended{.fd = pidfd, .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, 0) == 0;
}

// Of the process that connected. Older kernels do not keep it: there, of the one that has its pid
// now.
base::Fd peer_pidfd(int connection, pid_t pid) {
  int fd = -1;
  socklen_t size = sizeof fd;
  if (::getsockopt(connection, SOL_SOCKET, kPeerPidfd, &fd, &size) == 0) {
    return base::Fd(fd);
  }
  if (errno != ENOPROTOOPT) return {};
  return base::Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

// "memory:/a/b" and "memory:/a": whether the first is the same group or below it.
bool within(std::string_view group, std::string_view above) {
  const std::size_t colon = group.find(':') + 1;
  return group.substr(0, colon) == above.substr(0, std::min(colon, above.size())) &&
         base::at_or_below(group.substr(colon), above.substr(colon));
}

}  // namespace

Result<Surroundings> own_surroundings() {
  const base::Fd proc = open_proc(::getpid());
  auto own = proc ? read_surroundings(proc.get(), ::getpid()) : std::nullopt;
  if (!own) return base::fail_os(kStage, errno, "reading about this process in /proc");
  return *std::move(own);
}

Result<Surroundings> surroundings_of_peer(int connection, std::string_view what) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return not_permitted("it is not known who connected");
  }
  if (peer.uid != ::geteuid()) {
    return not_permitted(concat("this ", what, " is of user ", std::to_string(::geteuid()),
                                ", not of ", std::to_string(peer.uid)));
  }
  if (peer.pid <= 0) return not_permitted("whoever connected is in another pid namespace");
  const base::Fd pidfd = peer_pidfd(connection, peer.pid);
  const base::Fd proc = open_proc(peer.pid);
  // Alive after its directory was opened: the directory is its own.
  if (!pidfd || !proc || !alive(pidfd.get())) return not_permitted("whoever connected is gone");
  auto found = read_surroundings(proc.get(), peer.pid);
  if (!found || !alive(pidfd.get())) {
    return not_permitted("it cannot be seen in which namespaces whoever connected is");
  }
  return *std::move(found);
}

Result<void> check_permitted(const Surroundings& peer, const Surroundings& own) {
  if (peer.user_namespace != own.user_namespace) {
    return not_permitted("whoever connected is in another user namespace, as sandboxed programs");
  }
  if (peer.pid_namespace != own.pid_namespace) {
    return not_permitted("whoever connected is in another pid namespace, as sandboxed programs");
  }
  return {};
}

std::string difference(const Surroundings& peer, const Surroundings& own) {
  if (peer.facts.size() != own.facts.size()) return "what the kernel tells about it";
  for (std::size_t i = 0; i < own.facts.size(); ++i) {
    if (peer.facts[i].value != own.facts[i].value) return own.facts[i].name;
  }
  if (peer.cgroups.size() != own.cgroups.size()) return "control groups";
  for (std::size_t i = 0; i < own.cgroups.size(); ++i) {
    if (!within(own.cgroups[i], peer.cgroups[i])) return "control group " + peer.cgroups[i];
  }
  return {};
}

}  // namespace cordon::app::service
