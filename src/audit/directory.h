// The directory of a log: who may have a hand in it, and what its files are called.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::audit {

inline constexpr const char* kHeadFile = "head";
inline constexpr const char* kLockFile = "lock";

// "audit-00000001.jsonl".
[[nodiscard]] std::string file_name(std::uint64_t number);
// Empty unless it is exactly how file_name() writes a number.
[[nodiscard]] std::optional<std::uint64_t> file_number(std::string_view name);

// Holds the directory open: whatever happens to its path, the same directory is meant. Files are
// opened without following links, and only regular ones.
class Directory {
 public:
  // Makes what is missing, for the caller alone. Refuses a directory that anybody but root and the
  // caller could write to or put another in the place of, by any part of its path.
  [[nodiscard]] static Result<Directory> to_write(const std::string& path);
  // As it is, whoever's it is: what is read there is checked.
  [[nodiscard]] static Result<Directory> to_read(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // `flags` as for open(2). New files are their owner's alone.
  [[nodiscard]] Result<base::Fd> open(const std::string& name, int flags) const;

  struct Listing {
    std::vector<std::uint64_t> files;  // numbers, in order
    std::vector<std::string> strange;  // called almost like a file of a log
  };
  [[nodiscard]] Result<Listing> list() const;

 private:
  Directory(std::string path, base::Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  base::Fd fd_;
};

}  // namespace cordon::audit
