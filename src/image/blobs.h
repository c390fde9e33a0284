// Where the parts of an image are: files of a directory, or of an archive that is one file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::image {

// A file, or a part of one. `file` is borrowed from the Blobs if they keep it.
struct Region {
  base::Fd own{};
  int file = -1;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

class Blobs {
 public:
  Blobs() = default;
  virtual ~Blobs() = default;
  Blobs(const Blobs&) = delete;
  Blobs& operator=(const Blobs&) = delete;
  // By its name in the image, e.g. "index.json". Errors: not_found, those of the OS.
  [[nodiscard]] virtual Result<Region> open(const std::string& name) const = 0;
};

// `path` is a directory, or an archive. Links in the directory are not followed. Errors:
// invalid_argument (neither, or a damaged archive), those of the OS.
[[nodiscard]] Result<std::unique_ptr<Blobs>> open_blobs(const std::string& path);
// The second of these.
[[nodiscard]] Result<std::unique_ptr<Blobs>> index_archive(base::Fd file, const std::string& path);

// Error: resource_exhausted if there is more than `most`.
[[nodiscard]] Result<std::string> read_whole(const Region& region, const std::string& name,
                                             std::uint64_t most);
// All of it, in parts.
[[nodiscard]] Result<void> read_parts(const Region& region, const std::string& name,
                                      const std::function<Result<void>(std::string_view)>& sink);

}  // namespace cordon::image
