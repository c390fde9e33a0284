// What comes out of a sandbox as an archive, put into a directory of the caller's. Whoever made the
// archive, and whoever changes the directory meanwhile: nothing is written outside of it, no link
// is followed, and nothing that is there is replaced.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"
#include "cordon/error.h"
#include "image/tar.h"

namespace cordon::app::sandbox {

using image::TarEntry;
using image::TarReader;

class Unpacker {
 public:
  // Everything in the archive is `from`, or below it; it becomes `to` in the directory.
  // `name` is the directory's, for messages.
  Unpacker(base::Fd directory, std::string name, std::string from, std::string to);

  [[nodiscard]] Result<void> feed(std::string_view bytes) { return reader_.feed(bytes); }
  // Error: the archive is not whole.
  [[nodiscard]] Result<void> finish() const;
  // Devices, sockets and the like, which are not copied.
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

 private:
  [[nodiscard]] Result<void> entry(const TarEntry& entry);
  [[nodiscard]] Result<void> make(const TarEntry& entry, const std::string& path);
  [[nodiscard]] Result<void> open_file(const TarEntry& entry, const std::string& path);
  [[nodiscard]] Result<void> copy(const std::string& from, const std::string& to);
  // What the path is called here. Error: it is not below `from`.
  [[nodiscard]] Result<std::string> renamed(const std::string& path) const;

  [[nodiscard]] std::unexpected<Error> cannot(int error, const std::string& path) const;

  const base::Fd directory_;
  const std::string name_;
  const std::string from_;
  const std::string to_;
  base::Fd file_;
  std::string file_path_;
  std::uint64_t skipped_ = 0;
  std::uint64_t entries_ = 0;
  TarReader reader_;
};

}  // namespace cordon::app::sandbox
