#include "backend/gvisor/image_digest.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace cordon::gvisor_backend {
namespace {

// Blocks of a file whose size is known, digested by whoever has time.
class Blocks {
 public:
  Blocks(int file, std::uint64_t size)
      : file_(file),
        size_(size),
        digests_((size + ImageDigest::kBlock - 1) / ImageDigest::kBlock) {}

  // Until all are taken or one cannot be read.
  void work() {
    const auto buffer = std::make_unique<std::array<char, 2 * ImageDigest::kBlock>>();
    while (error_ == 0) {
      const std::size_t first = next_.fetch_add(2);
      if (first >= digests_.size()) return;
      const std::uint64_t at = first * ImageDigest::kBlock;
      const std::size_t length = std::min<std::uint64_t>(size_ - at, buffer->size());
      if (!read(buffer->data(), length, at)) return;
      const std::string_view all(buffer->data(), length);
      if (length == buffer->size()) {
        const auto both = base::sha256_of_two(all.substr(0, ImageDigest::kBlock),
                                              all.substr(ImageDigest::kBlock));
        digests_[first] = both[0];
        digests_[first + 1] = both[1];
        continue;
      }
      for (std::size_t i = 0; i * ImageDigest::kBlock < length; ++i) {
        digests_[first + i] =
            base::sha256(all.substr(i * ImageDigest::kBlock, ImageDigest::kBlock));
      }
    }
  }

  [[nodiscard]] bool enough_for_two() const { return digests_.size() >= 8; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] std::string digest() const {
    base::Sha256 all;
    for (const base::Digest& block : digests_) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as bytes
      all.add({reinterpret_cast<const char*>(block.data()), block.size()});
    }
    return base::to_hex(all.finish());
  }

 private:
  bool read(char* into, std::size_t length, std::uint64_t at) {
    for (std::size_t have = 0; have < length;) {
      const ssize_t more =
          ::pread(file_, into + have, length - have, static_cast<off_t>(at + have));
      if (more < 0 && errno == EINTR) continue;
      if (more <= 0) {
        error_ = more < 0 ? errno : EIO;
        return false;
      }
      have += static_cast<std::size_t>(more);
    }
    return true;
  }

  int file_;
  std::uint64_t size_;
  std::vector<base::Digest> digests_;
  std::atomic<std::size_t> next_{0};
  std::atomic<int> error_{0};
};

// With no signals of the application's; none: this thread works alone.
std::thread helper(Blocks& blocks) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread([&blocks] { blocks.work(); });
  } catch (const std::system_error&) {
    thread = {};
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

std::optional<std::string> digest_whole(int file, std::uint64_t size) {
  Blocks blocks(file, size);
  std::thread second;
  if (blocks.enough_for_two() && std::thread::hardware_concurrency() > 1) second = helper(blocks);
  blocks.work();
  if (second.joinable()) second.join();
  char more = 0;
  errno = blocks.error();
  if (errno == 0 && ::pread(file, &more, 1, static_cast<off_t>(size)) != 0) errno = EIO;
  if (errno != 0) return std::nullopt;
  return blocks.digest();
}

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
