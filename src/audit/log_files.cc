#include "audit/log_files.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/errors.h"

namespace cordon::audit {

std::unexpected<Error> tampered(const std::string& message) {
  return base::fail(
      ErrorCode::system, "audit",
      message + "; `cordon audit verify` tells more; move the directory away to begin a new log");
}

Result<std::string> read_from(int fd, std::uint64_t offset, std::uint64_t size,
                              const std::string& path) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::fail_os("audit", errno, "cannot read " + path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace cordon::audit
