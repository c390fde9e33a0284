// The part of tree_sampler.h that only reads texts.
#include <array>
#include <charconv>

#include "backend/linux/tree_sampler.h"

namespace cordon::linux_backend {
namespace {

// The number at the beginning of `text`, which loses it.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return number;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // A program's name may contain anything; the last parenthesis ends it.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 4) return std::nullopt;
  text.remove_prefix(name_end + 4);  // ") S "
  constexpr int kFirst = 4;          // as proc(5) counts them: ppid
  constexpr int kLast = 22;          // starttime
  std::array<std::uint64_t, kLast + 1> field{};
  for (int i = kFirst; i <= kLast; ++i) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    // Some are signed, none that is wanted.
    if (text.starts_with('-')) text.remove_prefix(1);
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    field[static_cast<std::size_t>(i)] = *number;
  }
  constexpr std::uint64_t kNoExec = 0x40;  // PF_FORKNOEXEC
  return ProcessStat{.parent = field[4],
                     .executed = (field[9] & kNoExec) == 0,
                     .children_faults = field[11],
                     .user = field[14],
                     .system = field[15],
                     .children_user = field[16],
                     .children_system = field[17],
                     .threads = field[20],
                     .start = field[22]};
}

std::optional<std::uint64_t> parse_resident_pages(std::string_view statm) {
  if (!take_number(statm)) return std::nullopt;
  return take_number(statm);
}

std::optional<std::uint64_t> parse_kilobytes(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ':') continue;
    line.remove_prefix(name.size() + 1);
    const auto kilobytes = take_number(line);
    if (!kilobytes || !line.starts_with(" kB")) return std::nullopt;
    return *kilobytes * 1024;
  }
  return std::nullopt;
}

std::vector<pid_t> parse_children(std::string_view text) {
  std::vector<pid_t> pids;
  while (const auto pid = take_number(text)) pids.push_back(static_cast<pid_t>(*pid));
  return pids;
}

}  // namespace cordon::linux_backend
