// Where collected files go: a directory of the caller's, in which nothing is ever replaced.
#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::workdir {

class OutputDirectory {
 public:
  // Made if it is not there. Errors: invalid_argument (empty path), not_permitted when it belongs
  // to somebody else or others may write in it; else the OS's.
  [[nodiscard]] static Result<OutputDirectory> open(const std::string& path);
  // The same for one that is open already; `fd` stays the caller's.
  [[nodiscard]] static Result<OutputDirectory> from_fd(int fd, std::string name);

  [[nodiscard]] int fd() const { return fd_.get(); }

  // Whether it is the directory behind `fd`, or somewhere below it.
  [[nodiscard]] bool is_within(int fd) const;

  // Copies the first `size` bytes of the regular file behind `from` to a new file at `path` (names
  // of directories, which are made if they are missing, and of the file). The file appears when it
  // is whole. Holes stay holes. Errors: the OS's, EEXIST if there is something of that name.
  [[nodiscard]] Result<void> add(const std::vector<std::string>& path, int from,
                                 std::uint64_t size) const;

 private:
  OutputDirectory() = default;

  base::Fd fd_;
  std::string name_;
};

}  // namespace cordon::workdir
