#include "base/locked_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace cordon::base {

Result<LockedBytes> LockedBytes::make(std::size_t size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t mapped = std::max<std::size_t>(1, (size + page - 1) / page) * page;
  void* const at =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return fail_os("memory", errno, "getting memory for a secret");
  LockedBytes bytes;
  bytes.data_ = static_cast<char*>(at);
  bytes.size_ = size;
  bytes.mapped_ = mapped;
  bytes.locked_ = ::mlock(at, mapped) == 0;
#ifdef MADV_DONTDUMP
  (void)::madvise(at, mapped, MADV_DONTDUMP);
#endif
  return bytes;
}

Result<LockedBytes> LockedBytes::copy_of(std::string_view bytes) {
  auto made = make(bytes.size());
  if (made && !bytes.empty()) std::memcpy(made->data_, bytes.data(), bytes.size());
  return made;
}

LockedBytes::LockedBytes(LockedBytes&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, 0)),
      locked_(std::exchange(other.locked_, false)),
      read_only_(std::exchange(other.read_only_, false)) {}

LockedBytes& LockedBytes::operator=(LockedBytes&& other) noexcept {
  if (this == &other) return *this;
  drop();
  data_ = std::exchange(other.data_, nullptr);
  size_ = std::exchange(other.size_, 0);
  mapped_ = std::exchange(other.mapped_, 0);
  locked_ = std::exchange(other.locked_, false);
  read_only_ = std::exchange(other.read_only_, false);
  return *this;
}

void LockedBytes::shrink(std::size_t size) {
  if (size >= size_) return;
  ::explicit_bzero(data_ + size, size_ - size);
  size_ = size;
}

void LockedBytes::make_read_only() {
  read_only_ = data_ != nullptr && ::mprotect(data_, mapped_, PROT_READ) == 0;
}

void LockedBytes::drop() {
  if (data_ == nullptr) return;
  if (read_only_) (void)::mprotect(data_, mapped_, PROT_READ | PROT_WRITE);
  ::explicit_bzero(data_, mapped_);
  (void)::munmap(data_, mapped_);
  data_ = nullptr;
  size_ = 0;
}

}  // namespace cordon::base
