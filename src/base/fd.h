// Owner of a file descriptor.
#pragma once

#include <utility>

namespace cordon::base {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// Moves a long-lived descriptor to 64 or above, where it can. The low numbers stay free for the
// ends that are handed to children: a child's descriptor table then fits the 64 slots that the
// kernel embeds in every process, instead of being a copy of ours.
[[nodiscard]] Fd move_up(Fd fd);

}  // namespace cordon::base
