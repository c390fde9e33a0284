#include "mcp/source/runtime_reach.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/paths.h"

namespace cordon::mcp {
namespace {

constexpr int kMostHops = 40;
constexpr int kMostInterpreters = 4;

// Below a home directory: nothing in these is granted, whatever is installed there.
constexpr auto kSecretPlaces = std::to_array<std::string_view>(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla"});
// Where programs are installed among other things: granted in parts only.
constexpr auto kMixedPlaces =
    std::to_array<std::string_view>({".local", ".local/share", ".config", ".cache", ".npm"});
// What makes a directory somebody's project, or a place where keys are kept.
constexpr auto kGivenAway = std::to_array<std::string_view>(
    {".env", ".git", ".npmrc", ".netrc", ".git-credentials", ".ssh", ".aws", ".gnupg"});
// What makes a directory in a home one that a toolchain was installed to.
constexpr auto kToolchain =
    std::to_array<std::string_view>({"pyvenv.cfg", "conda-meta", "lib/node_modules"});

std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}
std::string last(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Whether a link goes up behind a name, which may itself be a link.
bool goes_down_and_up(std::string_view target) {
  bool named = false;
  for (std::size_t at = 0; at < target.size();) {
    const std::size_t end = std::min(target.find('/', at), target.size());
    const std::string_view name = target.substr(at, end - at);
    at = end + 1;
    if (name == ".." && named) return true;
    named = named || (!name.empty() && name != "." && name != "..");
  }
  return false;
}

// "/a/b" and "../c" → "/a/c": right as long as nothing before ".." is a link.
std::string joined(const std::string& directory, std::string_view target) {
  std::string path = target.starts_with('/') ? "" : directory;
  if (path == "/") path.clear();
  for (std::size_t at = 0; at < target.size();) {
    const std::size_t end = std::min(target.find('/', at), target.size());
    const std::string_view name = target.substr(at, end - at);
    at = end + 1;
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      path = path.substr(0, std::min(path.rfind('/'), path.size()));
    } else {
      path += "/" + std::string(name);
    }
  }
  return path.empty() ? "/" : path;
}

struct Hop {
  std::string path{};
  std::string link{};  // the part of it that is a link; empty: there is none
};

// From the path as it is to where it leads.
std::vector<Hop> hops_of(std::string path, const Lookups& lookups) {
  std::vector<Hop> hops;
  while (std::ssize(hops) < kMostHops) {
    hops.push_back({.path = path});
    std::size_t end = 0;
    while (end < path.size()) {
      end = std::min(path.find('/', end + 1), path.size());
      const std::string part = path.substr(0, end);
      const auto target = lookups.link(part);
      if (!target) continue;
      hops.back().link = part;
      if (goes_down_and_up(*target)) return {};  // nobody installs programs so
      path = joined(parent(part), *target) + path.substr(end);
      break;
    }
    if (hops.back().link.empty()) return hops;
  }
  return {};
}

class Decision {
 public:
  Decision(std::vector<std::string> homes, const Lookups& lookups)
      : homes_(std::move(homes)), lookups_(lookups) {}

  // What to start for it.
  std::string add(const std::string& program, int depth) {
    const auto hops = hops_of(program, lookups_);
    if (hops.empty()) return program;  // a circle, say: starting it will tell
    for (const Hop& hop : hops) {
      // A directory that is reached through a link is granted where it is.
      if (!hop.link.empty() && hop.link != hop.path) continue;
      const std::string top = prefix_of(hop.path);
      if (!top.empty()) {
        grant(top);
      } else if (hop.link.empty() && !secret(hop.path)) {
        grant(hop.path);
      }
    }
    if (depth < kMostInterpreters) add_interpreter(hops.back().path, depth);
    return start_of(hops);
  }

  [[nodiscard]] RuntimeReach take(std::string program) && {
    reach_.program = std::move(program);
    return std::move(reach_);
  }

 private:
  [[nodiscard]] bool covered(const std::string& path) const {
    return base::in_system_directory(path) ||
           std::ranges::any_of(
               reach_.read, [&](const std::string& top) { return base::at_or_below(path, top); });
  }

  void grant(const std::string& path) {
    if (covered(path)) return;
    std::erase_if(reach_.read,
                  [&](const std::string& old) { return base::at_or_below(old, path); });
    reach_.read.push_back(path);
  }

  // The first hop from which the program can be reached inside as well.
  [[nodiscard]] std::string start_of(const std::vector<Hop>& hops) const {
    std::size_t start = hops.size() - 1;
    while (start > 0 && covered(hops[start - 1].link)) --start;
    return hops[start].path;
  }

  void add_interpreter(const std::string& script, int depth) {
    std::string line = lookups_.first_line(script);
    if (!line.starts_with("#!")) return;
    std::vector<std::string> words;
    for (std::size_t at = 2; at < line.size();) {
      const std::size_t begin = line.find_first_not_of(" \t\r\n", at);
      if (begin == std::string::npos) break;
      at = std::min(line.find_first_of(" \t\r\n", begin), line.size());
      words.push_back(line.substr(begin, at - begin));
    }
    if (words.empty() || !words.front().starts_with('/')) return;
    if (last(words.front()) != "env") {
      (void)add(words.front(), depth + 1);
      return;
    }
    const auto name = std::ranges::find_if(words.begin() + 1, words.end(), [](const auto& word) {
      return !word.starts_with('-') && !word.contains('=');
    });
    if (name == words.end()) return;
    const auto found = lookups_.find(*name);
    if (!found) return;
    const std::string start = add(*found, depth + 1);
    if (start != *found && last(start) == *name) reach_.path.push_back(parent(start));
  }

  // The directory to be granted for this file, "" if it is none or there is no need.
  [[nodiscard]] std::string prefix_of(const std::string& path) const {
    if (base::in_system_directory(path) || secret(path)) return "";
    for (const std::string_view whole : {"/node_modules/", "/.pyenv/"}) {
      const std::size_t at = path.find(whole);
      if (at == std::string::npos) continue;
      std::string top = path.substr(0, at + whole.size() - 1);
      return above_home(top) ? "" : top;
    }
    const std::string directory = parent(path);
    const std::string name = last(directory);
    if (name != "bin" && name != "sbin") return "";
    std::string top = parent(directory);
    return is_prefix(top) ? top : "";
  }

  [[nodiscard]] bool has_any(const std::string& directory,
                             std::span<const std::string_view> names) const {
    return std::ranges::any_of(names, [&](std::string_view name) {
      return lookups_.exists(directory + "/" + std::string(name));
    });
  }

  [[nodiscard]] bool above_home(const std::string& path) const {
    const bool shallow = parent(path) == "/";  // /opt, /srv, /root
    return shallow || parent(path) == "/home" ||
           std::ranges::any_of(
               homes_, [&](const std::string& home) { return base::at_or_below(home, path); });
  }

  [[nodiscard]] bool is_prefix(const std::string& path) const {
    if (above_home(path) || has_any(path, kGivenAway)) return false;
    return std::ranges::none_of(homes_, [&](const std::string& home) {
      if (!base::strictly_below(path, home)) return false;
      const std::string_view below = std::string_view(path).substr(home.size() + 1);
      if (std::ranges::find(kMixedPlaces, below) != kMixedPlaces.end()) return true;
      return !below.contains('/') && !has_any(path, kToolchain);
    });
  }

  [[nodiscard]] bool secret(const std::string& path) const {
    return std::ranges::any_of(homes_, [&](const std::string& home) {
      return std::ranges::any_of(kSecretPlaces, [&](std::string_view place) {
        return base::at_or_below(path, home + "/" + std::string(place));
      });
    });
  }

  std::vector<std::string> homes_;
  const Lookups& lookups_;
  RuntimeReach reach_{};
};

}  // namespace

RuntimeReach runtime_reach(const std::string& program, std::span<const std::string> homes,
                           const Lookups& lookups) {
  const auto path = base::normalise(program);
  if (!path) return {.program = program};
  std::vector<std::string> normal;
  for (const std::string& home : homes) {
    const auto own = base::normalise(home);
    if (own && *own != "/") normal.push_back(*own);
  }
  Decision decision(std::move(normal), lookups);
  std::string start = decision.add(*path, 0);
  return std::move(decision).take(std::move(start));
}

}  // namespace cordon::mcp
