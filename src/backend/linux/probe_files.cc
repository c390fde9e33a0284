#include "backend/linux/probe_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/fd.h"

namespace cordon::linux_backend {
namespace {

// Takes the next line off `text`.
std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// Takes the next word off `line`; empty at its end.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

}  // namespace

std::optional<std::string> read_small_file(const char* path) {
  constexpr std::size_t kPart = 4096;
  const base::Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return std::nullopt;
  std::string text;
  while (text.size() < kMostOfFile) {
    char part[kPart];
    const ssize_t got = ::read(file.get(), part, sizeof part);
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(part, static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::int64_t> read_number(const char* path) {
  const auto text = read_small_file(path);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::uint64_t effective_capabilities(std::string_view proc_status) {
  constexpr int kHexadecimal = 16;
  while (!proc_status.empty()) {
    std::string_view line = next_line(proc_status);
    if (next_word(line) != "CapEff:") continue;
    const std::string_view digits = next_word(line);
    std::uint64_t value = 0;
    std::from_chars(digits.begin(), digits.end(), value, kHexadecimal);
    return value;
  }
  return 0;
}

std::uint64_t ids_mapped(std::string_view uid_map) {
  std::uint64_t total = 0;
  while (!uid_map.empty()) {
    std::string_view line = next_line(uid_map);
    (void)next_word(line);
    (void)next_word(line);
    const std::string_view digits = next_word(line);
    std::uint64_t count = 0;
    std::from_chars(digits.begin(), digits.end(), count);
    total += count;
  }
  return total;
}

std::vector<std::string> mounts_below_proc(std::string_view mountinfo) {
  constexpr int kBeforeMountPoint = 4;
  std::vector<std::string> found;
  while (!mountinfo.empty()) {
    std::string_view line = next_line(mountinfo);
    for (int i = 0; i < kBeforeMountPoint; ++i) (void)next_word(line);
    const std::string_view place = next_word(line);
    if (place.starts_with("/proc/") && place != "/proc/sys/fs/binfmt_misc")
      found.emplace_back(place);
  }
  return found;
}

std::string file_system_of_mount(std::string_view mountinfo, std::uint64_t id) {
  const std::string wanted = std::to_string(id);
  while (!mountinfo.empty()) {
    std::string_view line = next_line(mountinfo);
    if (next_word(line) != wanted) continue;
    while (!line.empty() && next_word(line) != "-") {  // a number of optional fields
    }
    return std::string(next_word(line));
  }
  return "";
}

}  // namespace cordon::linux_backend
