// Memory for what must not be seen: kept out of swap where the OS allows it, out of core dumps, and
// wiped when it is given up. Not copyable; the bytes are on pages of their own.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "cordon/error.h"

namespace cordon::base {

class LockedBytes {
 public:
  LockedBytes() = default;
  // `size` zero bytes. Error: resource_exhausted.
  [[nodiscard]] static Result<LockedBytes> make(std::size_t size);
  [[nodiscard]] static Result<LockedBytes> copy_of(std::string_view bytes);
  ~LockedBytes() { drop(); }
  LockedBytes(LockedBytes&& other) noexcept;
  LockedBytes& operator=(LockedBytes&& other) noexcept;

  [[nodiscard]] std::span<char> writable() { return {data_, size_}; }
  [[nodiscard]] std::string_view view() const { return {data_, size_}; }
  [[nodiscard]] std::size_t size() const { return size_; }
  // Whether the OS keeps it out of swap: an ordinary user may lock only so much.
  [[nodiscard]] bool locked() const { return locked_; }

  // Leaves the first `size` bytes and wipes the others.
  void shrink(std::size_t size);
  // From now on writing to it is a crash.
  void make_read_only();

 private:
  void drop();

  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
  bool locked_ = false;
  bool read_only_ = false;
};

}  // namespace cordon::base
