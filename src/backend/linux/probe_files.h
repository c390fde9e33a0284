// Small files of /proc, and what is in them. The parsers are pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::linux_backend {

inline constexpr std::size_t kMostOfFile = 64 * 1024;

// The first kMostOfFile bytes, or a little more; nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_small_file(const char* path);
// A file with one number in it.
[[nodiscard]] std::optional<std::int64_t> read_number(const char* path);

// CapEff of a /proc/PID/status; 0 if it is not there.
[[nodiscard]] std::uint64_t effective_capabilities(std::string_view proc_status);
// How many ids a /proc/PID/uid_map has.
[[nodiscard]] std::uint64_t ids_mapped(std::string_view uid_map);
// Where a /proc/PID/mountinfo has mounts below /proc that hide something: binfmt_misc does not.
[[nodiscard]] std::vector<std::string> mounts_below_proc(std::string_view mountinfo);
// The type of the file system ("ext4") that is mounted with this id; empty if none is.
[[nodiscard]] std::string file_system_of_mount(std::string_view mountinfo, std::uint64_t id);

}  // namespace cordon::linux_backend
