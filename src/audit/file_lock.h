// An exclusive or shared lock on an open file, for as long as this lives.
#pragma once

#include <sys/file.h>

#include <cerrno>

namespace cordon::audit {

class FileLock {
 public:
  // Waits. `fd` must stay open; it is of this lock's own open(), or threads would share it.
  FileLock(int fd, int kind) : fd_(fd) {
    int locked = 0;
    do {
      locked = ::flock(fd, kind);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0) error_ = errno;
  }
  ~FileLock() {
    if (error_ == 0) (void)::flock(fd_, LOCK_UN);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  [[nodiscard]] int error() const { return error_; }  // 0: held

 private:
  int fd_;
  int error_ = 0;
};

}  // namespace cordon::audit
