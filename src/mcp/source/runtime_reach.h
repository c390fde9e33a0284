// What a program that is installed in somebody's own directories needs to see of them: the prefix
// that it is installed in, those of the interpreters of scripts, and every link on the way. Never a
// home directory, what is above one, or a directory that is known to hold secrets. Pure: what is
// looked at comes through Lookups.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::mcp {

struct Lookups {
  // What a symbolic link says; nothing if the path is none.
  std::function<std::optional<std::string>(const std::string& path)> link;
  std::function<bool(const std::string& path)> exists;
  // The first line of a file, as far as it is worth looking at; "" if it cannot be read.
  std::function<std::string(const std::string& path)> first_line;
  // A program in PATH.
  std::function<std::optional<std::string>(const std::string& name)> find;
};

struct RuntimeReach {
  std::string program{};            // what to start, absolute: what PATH named, or where it leads
  std::vector<std::string> read{};  // to be granted read-only: absolute, without links
  std::vector<std::string> path{};  // directories that PATH has to have in front inside
};

// `program` is absolute; `homes` are home directories of the caller. What is in the system's
// directories needs nothing; where only a file can be granted safely, it is the file alone.
[[nodiscard]] RuntimeReach runtime_reach(const std::string& program,
                                         std::span<const std::string> homes,
                                         const Lookups& lookups);

}  // namespace cordon::mcp
