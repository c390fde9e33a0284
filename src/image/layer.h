// One layer of an image, put on those below it: files, directories and links as they are named, and
// away with what a whiteout names.
//
// Whoever made the archive, nothing is written outside of the directory: names are resolved below
// it, and no link is ever followed. Owners and times are not taken over, bits that change an id are
// left out, and so are devices, pipes and sockets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/fd.h"
#include "cordon/error.h"
#include "image/tar.h"

namespace cordon::image {

// What all layers of an image together may have, and what they have had until now.
struct Budget {
  std::uint64_t most_bytes = std::uint64_t{16} << 30U;
  std::uint64_t most_entries = 1'000'000;
  std::uint64_t most_names = std::uint64_t{256} << 20;  // bytes of one layer's paths
  std::uint64_t bytes = 0;                              // unpacked, with all that is between files
  std::uint64_t entries = 0;
  std::uint64_t skipped = 0;  // devices and the like
};

class Layer {
 public:
  // `root`: the directory, borrowed. `budget` outlives this.
  Layer(int root, Budget& budget);

  // Errors: invalid_argument (no archive, or a name that leads out), resource_exhausted (the
  // budget), those of the OS. Nothing can be fed after one.
  [[nodiscard]] Result<void> feed(std::string_view bytes);
  // Whether the archive is whole.
  [[nodiscard]] bool complete() const { return reader_.complete(); }

 private:
  [[nodiscard]] Result<void> entry(const TarEntry& entry);
  [[nodiscard]] Result<void> content(std::string_view part);
  [[nodiscard]] Result<void> end();
  [[nodiscard]] Result<void> whiteout(int parent, const std::string& directory,
                                      const std::string& name);
  [[nodiscard]] Result<void> make(const TarEntry& entry, int parent, const std::string& path);
  [[nodiscard]] Result<void> make_directory(const TarEntry& entry, int parent,
                                            const std::string& path);
  // The directory that `path` is in, made if it is missing.
  [[nodiscard]] Result<base::Fd> parent_of(const std::string& path);
  [[nodiscard]] Result<void> remove(int parent, const std::string& name, const std::string& path);
  [[nodiscard]] Result<void> count_entry();
  [[nodiscard]] Result<void> note(const std::string& path);

  int root_;
  Budget& budget_;
  std::unordered_set<std::string> made_;  // by this layer, with all directories above
  std::uint64_t named_ = 0;               // bytes in it
  base::Fd file_;
  std::uint32_t file_mode_ = 0;
  std::string file_path_;
  TarReader reader_;
};

}  // namespace cordon::image
