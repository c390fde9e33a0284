// Output for a regular file, by way of a pipe: runsc would write to the file from its beginning,
// whatever is in it, and each of its processes over what another has written.
//
// Used by one thread at a time; has a thread of its own.
#pragma once

#include <thread>

#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::gvisor_backend {

class FileRelay {
 public:
  FileRelay() = default;
  ~FileRelay() { finish(); }
  FileRelay(const FileRelay&) = delete;
  FileRelay& operator=(const FileRelay&) = delete;

  // What to give to runsc instead of `fd`: `fd` itself unless it is a regular file.
  [[nodiscard]] Result<int> open(int fd);
  // runsc has it now.
  void begin() { writer_.reset(); }
  // Returns when everything is in the file. Whoever writes has ended.
  void finish();

 private:
  base::Fd writer_;
  std::thread thread_;
};

}  // namespace cordon::gvisor_backend
