#include "workdir/copy_file.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace cordon::workdir {
namespace {

constexpr std::size_t kBlock = std::size_t{128} * 1024;

// 0 or an errno.
int write_at(int to, const char* data, std::size_t size, off_t at) {
  while (size > 0) {
    const ssize_t written = ::pwrite(to, data, size, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    data += written;
    size -= static_cast<std::size_t>(written);
    at += written;
  }
  return 0;
}

// Copies [begin, end); `begin` moves on. 0 or an errno; stops early where the file ends.
int copy_range(int from, int to, off_t& begin, off_t end, std::vector<char>& block) {
  while (begin < end) {
    const auto wanted = std::min<std::size_t>(block.size(), static_cast<std::size_t>(end - begin));
    const ssize_t got = ::pread(from, block.data(), wanted, begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    if (const int error = write_at(to, block.data(), static_cast<std::size_t>(got), begin)) {
      return error;
    }
    begin += got;
  }
  return 0;
}

}  // namespace

int copy_file(int from, int to, std::uint64_t size) {
  const auto end = static_cast<off_t>(size);
  std::vector<char> block(std::min<std::size_t>(kBlock, std::max<std::uint64_t>(size, 1)));
  for (off_t at = 0; at < end;) {
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // nothing but a hole up to the end
    // A file system without holes calls everything data; one that cannot tell is copied whole.
    at = data < 0 ? at : std::min(data, end);
    const off_t hole = data < 0 ? end : ::lseek(from, at, SEEK_HOLE);
    const off_t stop = hole < 0 ? end : std::min(hole, end);
    const off_t before = at;
    if (const int error = copy_range(from, to, at, stop, block)) return error;
    if (at == before && at < end) break;  // it has become shorter
  }
  const off_t now = ::lseek(from, 0, SEEK_END);
  if (now < 0) return errno;
  return ::ftruncate(to, std::min(now, end)) == 0 ? 0 : errno;
}

}  // namespace cordon::workdir
