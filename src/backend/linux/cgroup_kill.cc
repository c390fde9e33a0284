#include "backend/linux/cgroup_kill.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_values.h"
#include "base/fd.h"

namespace cordon::linux_backend {
namespace {

constexpr int kRounds = 100;
constexpr int kDepth = 16;
constexpr std::size_t kBatch = 128;  // descriptors held at once
constexpr std::size_t kResisting = 8;

void pause_in(int round) {
  std::this_thread::sleep_for(std::chrono::microseconds(round < 5 ? 100 : 1000));
}

std::vector<std::string> groups_in(int dir, const char* path) {
  std::vector<std::string> names;
  base::Fd fd = open_file(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const std::unique_ptr<DIR, int (*)(DIR*)> list(fd ? ::fdopendir(fd.get()) : nullptr, ::closedir);
  if (!list) return names;
  (void)fd.release();
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

// Their paths, as of `name` itself.
std::vector<std::string> groups_below(int dir, const std::string& name) {
  auto paths = groups_in(dir, name.c_str());
  for (auto& path : paths) path.insert(0, name + "/");
  return paths;
}

// The pids of the group. Those that our pid namespace does not show are "0": left out. Empty: not
// known, for want of a descriptor.
std::optional<std::vector<pid_t>> members(int dir, const std::string& procs) {
  std::vector<pid_t> pids;
  const auto text = read_file(dir, procs.c_str());
  if (!text && errno != ENOENT && errno != ENODEV) return std::nullopt;
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto pid = number(rest.substr(0, end));
    if (pid && *pid > 0) pids.push_back(static_cast<pid_t>(*pid));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::ranges::sort(pids);
  return pids;
}

// A pid can be given to another process at any moment. So: a handle first, then a second look at
// the group. Who is still listed is either the process of the handle, or one that got its pid after
// that ended; the handle then hits nobody.
void kill_members(int dir, const std::string& procs, const std::vector<pid_t>& pids) {
  for (std::size_t first = 0; first < pids.size(); first += kBatch) {
    std::vector<std::pair<pid_t, base::Fd>> handles;
    for (std::size_t i = first; i < std::min(first + kBatch, pids.size()); ++i) {
      base::Fd handle(static_cast<int>(::syscall(SYS_pidfd_open, pids[i], 0)));
      if (handle) handles.emplace_back(pids[i], std::move(handle));
    }
    const auto still = members(dir, procs);
    for (const auto& [pid, handle] : handles) {
      if (!still || !std::ranges::binary_search(*still, pid)) continue;
      (void)::syscall(SYS_pidfd_send_signal, handle.get(), SIGKILL, nullptr, 0);
    }
  }
}

bool kill_one_by_one(int dir, const std::string& name, int depth) {
  bool all = true;
  if (depth < kDepth) {
    for (const auto& below : groups_below(dir, name)) {
      all = kill_one_by_one(dir, below, depth + 1) && all;
    }
  }
  const std::string procs = name + "/cgroup.procs";
  for (int round = 0; round < kRounds; ++round) {
    const auto pids = members(dir, procs);
    if (pids && pids->empty()) return all;
    if (pids) kill_members(dir, procs, *pids);
    pause_in(round);
  }
  return false;
}

bool remove_at(int dir, const std::string& name, int depth) {
  for (int round = 0; round < kRounds; ++round) {
    if (remove_empty_group(dir, name)) return true;
    if (errno != EBUSY) return false;
    if (round == 0) {
      kill_group(dir, name);
      if (depth == kDepth) return false;
      for (const auto& below : groups_below(dir, name)) {
        if (!remove_at(dir, below, depth + 1)) return false;
      }
    } else {
      pause_in(round);
    }
  }
  return false;
}

}  // namespace

void prepare_kill(int dir, const std::string& name) {
  (void)write_file(dir, (name + "/cpu.max").c_str(), "max");
  (void)write_file(dir, (name + "/cpu.cfs_quota_us").c_str(), "-1");
  // In v2 cgroup.kill spares us this, and the refusals that it would count.
  if (!exists(dir, (name + "/cgroup.kill").c_str())) {
    (void)write_file(dir, (name + "/pids.max").c_str(), "0");
  }
}

bool kill_group(int dir, const std::string& name) {
  prepare_kill(dir, name);
  // v2, from Linux 5.14: the kernel does it, and new processes do not escape it.
  if (write_file(dir, (name + "/cgroup.kill").c_str(), "1") == 0) return true;
  return kill_one_by_one(dir, name, 0);
}

bool remove_empty_group(int dir, const std::string& name) {
  return ::unlinkat(dir, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

bool remove_group(int dir, const std::string& name) { return remove_at(dir, name, 0); }

std::size_t sweep_groups(const std::vector<int>& dirs, const CgroupOwner& self) {
  std::set<std::string> dead;
  // Most have the same few owners, in every hierarchy.
  std::vector<std::pair<CgroupOwner, bool>> judged{{self, false}};
  const auto has_died = [&](const CgroupOwner& owner) {
    const auto known = std::ranges::find(judged, owner, &decltype(judged)::value_type::first);
    if (known != judged.end()) return known->second;
    return judged.emplace_back(owner, is_dead(owner, self)).second;
  };
  for (const int dir : dirs) {
    for (auto& name : groups_in(dir, ".")) {
      const auto owner = owner_of(name);
      if (owner && has_died(*owner)) dead.insert(std::move(name));
    }
  }
  std::size_t removed = 0;
  std::size_t resisting = 0;
  for (const auto& name : dead) {
    bool gone = true;
    for (const int dir : dirs) prepare_kill(dir, name);
    for (const int dir : dirs) gone = remove_group(dir, name) && gone;
    removed += gone ? 1 : 0;
    resisting += gone ? 0 : 1;
    if (resisting == kResisting) break;
  }
  return removed;
}

void CgroupLeftovers::add(std::string name) {
  const std::scoped_lock lock(mutex_);
  names_.push_back(std::move(name));
}

std::size_t CgroupLeftovers::remove(const std::vector<int>& dirs) {
  std::vector<std::string> names;
  {
    const std::scoped_lock lock(mutex_);
    names.swap(names_);
  }
  std::size_t removed = 0;
  std::size_t resisting = 0;
  for (auto& name : names) {
    bool gone = resisting < kResisting;
    for (const int dir : dirs) gone = gone && remove_group(dir, name);
    if (gone) {
      ++removed;
    } else {
      ++resisting;
      add(std::move(name));
    }
  }
  return removed;
}

}  // namespace cordon::linux_backend
