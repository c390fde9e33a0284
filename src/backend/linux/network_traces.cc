#include "backend/linux/network_traces.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "backend/linux/cgroup_file.h"
#include "backend/linux/cgroup_values.h"

namespace cordon::linux_backend {
namespace {

// The first is special. A namespace whose IPv6 is off lacks some: then nothing can be left there.
constexpr auto kFiles = std::to_array<const char*>({
    "sockstat",       // every socket of any family, and those in TIME_WAIT, which are none any more
    "sockstat6",      // … and fragments
    "dev",            // what was sent over the loopback interface
    "snmp",           // failed attempts
    "snmp6",          //
    "netstat",        //
    "ip6_flowlabel",  // may outlive their socket by a minute
});

// The word after `key` in a line.
std::optional<std::uint64_t> count_after(std::string_view line, std::string_view key) {
  const auto found = line.find(key);
  if (found == std::string_view::npos) return std::nullopt;
  line.remove_prefix(found + key.size());
  return number(line.substr(0, std::min(line.find_first_of(" \n"), line.size())));
}

}  // namespace

std::optional<std::string> own_part_of_sockstat(std::string_view text) {
  const auto sockets = count_after(text, "sockets: used ");
  const auto waiting = count_after(text, " tw ");
  const auto fragments = text.find("FRAG: ");
  if (!sockets || !waiting || fragments == std::string_view::npos) return std::nullopt;
  return "used " + std::to_string(*sockets) + " tw " + std::to_string(*waiting) + " " +
         std::string(text.substr(fragments));
}

std::optional<NetworkTraces> NetworkTraces::take(pid_t inside) {
  NetworkTraces traces;
  const std::string folder = "/proc/" + std::to_string(inside) + "/net/";
  for (const char* const name : kFiles) {
    base::Fd file = open_file(AT_FDCWD, (folder + name).c_str(), O_RDONLY);
    if (!file && (errno != ENOENT || traces.files_.empty())) return std::nullopt;
    if (file) traces.files_.push_back(base::move_up(std::move(file)));
  }
  auto now = traces.look();
  if (!now) return std::nullopt;
  traces.before_ = *std::move(now);
  return traces;
}

std::optional<std::string> NetworkTraces::look() const {
  std::string all;
  for (const base::Fd& file : files_) {
    const auto text = read_all(file.get());
    if (!text) return std::nullopt;
    if (&file != &files_.front()) {
      all += *text;
      continue;
    }
    const auto own = own_part_of_sockstat(*text);
    if (!own) return std::nullopt;
    // The text of the first look has the same: a socket that somebody holds is one too many.
    if (!own->starts_with("used 0 tw 0 ")) return std::nullopt;
    all += *own;
  }
  return all;
}

bool NetworkTraces::unchanged() const {
  const auto now = look();
  return now && *now == before_;
}

}  // namespace cordon::linux_backend
