#include "backend/linux/cgroup_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_values.h"

namespace cordon::linux_backend {
namespace {

constexpr std::string_view kPrefix = "run-";

std::uint64_t inode_of(const char* path) {
  struct stat info{};
  return ::stat(path, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

std::string cgroup_name(const CgroupOwner& owner, std::uint64_t number) {
  std::string name(kPrefix);
  for (const std::uint64_t part :
       {owner.pid_namespace, owner.time_namespace, owner.pid, owner.start}) {
    name += std::to_string(part);
    name += '-';
  }
  return name += std::to_string(number);
}

std::optional<CgroupOwner> owner_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  std::array<std::uint64_t, 5> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto end = std::min(name.find('-'), name.size());
    // The last part ends the name, the others do not.
    if ((end == name.size()) != (i + 1 == parts.size())) return std::nullopt;
    const auto part = number(name.substr(0, end));
    if (!part) return std::nullopt;
    parts[i] = *part;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return CgroupOwner{parts[0], parts[1], parts[2], parts[3]};
}

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  // The second field is the program's name in parentheses, which may hold anything.
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  ProcStat stat;
  for (int index = 3; index <= 22; ++index) {
    text = trimmed(text);
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    if (word.empty()) return std::nullopt;
    if (index == 3) stat.state = word.front();
    if (index == 20 || index == 22) {
      const auto value = number(word);
      if (!value) return std::nullopt;
      (index == 20 ? stat.threads : stat.start) = *value;
    }
    text.remove_prefix(end);
  }
  return stat;
}

std::optional<CgroupOwner> this_owner() {
  std::array<char, 32> link{};
  const ssize_t length = ::readlink("/proc/self", link.data(), link.size());
  const auto pid = static_cast<std::uint64_t>(::getpid());
  if (length <= 0 || number({link.data(), static_cast<std::size_t>(length)}) != pid) {
    return std::nullopt;
  }
  const auto text = read_file(AT_FDCWD, "/proc/self/stat");
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  const auto pid_namespace = inode_of("/proc/self/ns/pid");
  if (!stat || pid_namespace == 0) return std::nullopt;
  return CgroupOwner{pid_namespace, inode_of("/proc/self/ns/time"), pid, stat->start};
}

bool is_dead(const CgroupOwner& owner, const CgroupOwner& self) {
  if (owner.pid_namespace != self.pid_namespace || owner.time_namespace != self.time_namespace) {
    return false;
  }
  if (owner.pid == 0 || owner.pid > 0x7fffffff) return false;
  // Signal 0 tells even where /proc hides the processes of other users.
  if (::kill(static_cast<pid_t>(owner.pid), 0) != 0 && errno == ESRCH) return true;
  const std::string path = "/proc/" + std::to_string(owner.pid) + "/stat";
  const auto text = read_file(AT_FDCWD, path.c_str());
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  if (!stat) return false;
  if (stat->start != owner.start) return true;
  // A zombie that nobody reaps. One whose other threads go on is alive.
  return stat->state == 'Z' && stat->threads <= 1;
}

const std::optional<CgroupOwner>& CgroupNames::self() {
  const pid_t pid = ::getpid();
  if (pid != asked_by_) {
    self_ = this_owner();
    asked_by_ = pid;
  }
  return self_;
}

std::string CgroupNames::next() {
  // Where the owner cannot be told, namespace 0 keeps everyone from judging it.
  const auto& owner = self();
  return cgroup_name(owner.value_or(CgroupOwner{0, 0, static_cast<std::uint64_t>(::getpid()), 0}),
                     number_++);
}

}  // namespace cordon::linux_backend
