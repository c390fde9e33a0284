// The digest of a file of an image: SHA-256 of the SHA-256 of its blocks, one after the other. Two
// blocks are digested at once, which a processor does in little more than the time of one.
//
// Used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/sha256.h"

namespace cordon::gvisor_backend {

class ImageDigest {
 public:
  static constexpr std::size_t kBlock = std::size_t{128} * 1024;

  // Reads on in `file`, from where it stands to what is its end at the moment, or until `most`
  // bytes and some were read. 0, or an errno.
  [[nodiscard]] int read_on(int file, std::uint64_t most = UINT64_MAX);
  // So many bytes were read.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Whether the first block of `file` still is what was read; false also if that cannot be known.
  [[nodiscard]] bool begins_as_before(int file) const;
  // Of all that was read, in hex. Ends the computation.
  [[nodiscard]] std::string finish();

 private:
  void take(const base::Digest& block);

  using Buffer = std::array<char, 2 * kBlock>;
  std::unique_ptr<Buffer> buffer_ = std::make_unique<Buffer>();
  std::size_t held_ = 0;  // bytes in the buffer that are not digested yet
  std::uint64_t size_ = 0;
  std::optional<base::Digest> first_;
  base::Sha256 all_;
};

// The same of a whole file of `size` bytes, by two threads where there are two processors: who
// restores an image waits for it. None: an errno is set; EIO also if the file has another size.
[[nodiscard]] std::optional<std::string> digest_whole(int file, std::uint64_t size);

}  // namespace cordon::gvisor_backend
