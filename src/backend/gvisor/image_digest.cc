#include "backend/gvisor/image_digest.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

namespace cordon::gvisor_backend {

void ImageDigest::take(const base::Digest& block) {
  if (!first_) first_ = block;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as bytes
  all_.add({reinterpret_cast<const char*>(block.data()), block.size()});
}

int ImageDigest::read_on(int file, std::uint64_t most) {
  const std::uint64_t begin = size_;
  while (size_ - begin < most) {
    const ssize_t size = ::read(file, buffer_->data() + held_, buffer_->size() - held_);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    if (size == 0) return 0;
    held_ += static_cast<std::size_t>(size);
    size_ += static_cast<std::uint64_t>(size);
    if (held_ < buffer_->size()) continue;
    const auto both =
        base::sha256_of_two({buffer_->data(), kBlock}, {buffer_->data() + kBlock, kBlock});
    for (const base::Digest& block : both) take(block);
    held_ = 0;
  }
  return 0;
}

bool ImageDigest::begins_as_before(int file) const {
  if (!first_) return false;
  const auto block = std::make_unique<std::array<char, kBlock>>();
  std::size_t size = 0;
  while (size < block->size()) {
    const ssize_t more =
        ::pread(file, block->data() + size, block->size() - size, static_cast<off_t>(size));
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) break;
    size += static_cast<std::size_t>(more);
  }
  return base::sha256({block->data(), size}) == *first_;
}

std::string ImageDigest::finish() {
  for (std::size_t at = 0; at < held_; at += kBlock) {
    take(base::sha256({buffer_->data() + at, std::min(kBlock, held_ - at)}));
  }
  held_ = 0;
  return base::to_hex(all_.finish());
}

}  // namespace cordon::gvisor_backend
