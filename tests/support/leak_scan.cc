#include "support/leak_scan.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <set>
#include <sstream>

#include "base/fd.h"

namespace cordon::support {
namespace {

namespace fs = std::filesystem;

struct Area {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool readable = false;
  bool locked = false;  // and not dumped
};

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string proc(pid_t pid, const std::string& name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// The spawner is executed from a descriptor, and its number is what the kernel calls it.
std::string name_of(pid_t pid) {
  std::string name = read_file(proc(pid, "comm"));
  if (name.ends_with('\n')) name.pop_back();
  if (name.find_first_not_of("0123456789") != std::string::npos) return name;
  return read_file(proc(pid, "cmdline")).c_str();  // NOLINT: up to its first NUL
}

std::set<pid_t> tree_of(pid_t root) {
  std::map<pid_t, pid_t> parents;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = read_file(entry.path() / "stat");
    const std::size_t behind_name = stat.rfind(')');
    if (behind_name == std::string::npos) continue;  // gone
    std::istringstream rest(stat.substr(behind_name + 1));
    std::string state;
    pid_t parent = 0;
    rest >> state >> parent;
    parents[std::stoi(number)] = parent;
  }
  std::set<pid_t> tree = {root};
  for (bool grown = true; grown;) {
    grown = false;
    for (const auto& [pid, parent] : parents) {
      if (tree.contains(parent)) grown |= tree.insert(pid).second;
    }
  }
  return tree;
}

std::vector<Area> areas_of(pid_t pid) {
  std::vector<Area> areas;
  std::istringstream maps(read_file(proc(pid, "smaps")));
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    const std::size_t blank = line.find(' ');
    if (line.starts_with("VmFlags:")) {
      const std::string flags = line + " ";
      areas.back().locked =
          flags.find(" lo ") != std::string::npos && flags.find(" dd ") != std::string::npos;
    } else if (dash < blank) {
      areas.push_back({.begin = std::stoull(line.substr(0, dash), nullptr, 16),
                       .end = std::stoull(line.substr(dash + 1), nullptr, 16),
                       .readable = line[blank + 1] == 'r'});
    }
  }
  return areas;
}

bool area_has(int memory, const Area& area, std::string_view needle, std::size_t& read) {
  constexpr std::size_t kPart = 1024 * 1024;
  std::string part(kPart + needle.size(), '\0');
  bool found = false;
  for (std::uint64_t at = area.begin; at < area.end; at += kPart) {
    const std::size_t size = std::min<std::uint64_t>(part.size(), area.end - at);
    const ssize_t got = ::pread(memory, part.data(), size, static_cast<off_t>(at));
    if (got <= 0) break;  // the kernel's own pages, or a file that has shrunk
    read += static_cast<std::size_t>(got);
    const std::string_view seen(part.data(), static_cast<std::size_t>(got));
    found |= seen.find(needle) != std::string_view::npos;
  }
  return found;
}

void scan_memory(pid_t pid, std::string_view needle, LeakScan& scan) {
  const std::string name = name_of(pid);
  const base::Fd memory(::open(proc(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC));
  std::size_t read = 0;
  for (const Area& area : areas_of(pid)) {
    if (!memory || !area.readable || !area_has(memory.get(), area, needle, read)) continue;
    scan.leaks.push_back({name, area.locked ? "locked memory" : "memory"});
  }
  scan.memory_read[name] += read;
}

void scan_descriptors(pid_t pid, std::string_view needle, LeakScan& scan) {
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator(proc(pid, "fd"), gone)) {
    const std::string target = fs::read_symlink(entry.path(), gone);
    if (!target.starts_with("/memfd:")) continue;
    if (read_file(entry.path()).find(needle) != std::string::npos) {
      scan.leaks.push_back({name_of(pid), "descriptor"});
    }
  }
}

}  // namespace

LeakScan scan_processes(pid_t root, std::string_view needle) {
  LeakScan scan;
  for (const pid_t pid : tree_of(root)) {
    ++scan.processes;
    for (const char* const place : {"cmdline", "environ"}) {
      if (read_file(proc(pid, place)).find(needle) != std::string::npos) {
        scan.leaks.push_back({name_of(pid), place});
      }
    }
    scan_memory(pid, needle, scan);
    scan_descriptors(pid, needle, scan);
  }
  return scan;
}

std::vector<std::string> scan_files(const fs::path& folder, std::string_view needle,
                                    const std::string& except) {
  std::vector<std::string> found;
  std::error_code gone;
  for (const auto& entry : fs::recursive_directory_iterator(folder, gone)) {
    if (!entry.is_regular_file(gone) || entry.path() == except) continue;
    if (read_file(entry.path()).find(needle) != std::string::npos) found.push_back(entry.path());
  }
  return found;
}

}  // namespace cordon::support
