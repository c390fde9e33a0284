#include "workdir/directory_reader.h"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "base/fd.h"

namespace cordon::workdir {

DirectoryReader::DirectoryReader(int directory) {
  // A descriptor of its own has a position of its own.
  base::Fd own(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (own) stream_ = ::fdopendir(own.get());
  if (stream_ == nullptr) {
    error_ = errno;
    return;
  }
  (void)own.release();
}

DirectoryReader::~DirectoryReader() {
  if (stream_ != nullptr) (void)::closedir(stream_);
}

void DirectoryReader::rewind() {
  if (stream_ != nullptr) ::rewinddir(stream_);
}

std::optional<DirectoryReader::Entry> DirectoryReader::next() {
  if (stream_ == nullptr) return std::nullopt;
  while (true) {
    errno = 0;
    const dirent* const entry = ::readdir(stream_);
    if (entry == nullptr) {
      error_ = errno;
      return std::nullopt;
    }
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return Entry{entry->d_name, entry->d_type == DT_DIR};
  }
}

}  // namespace cordon::workdir
