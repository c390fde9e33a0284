#include "audit/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "audit/file_lock.h"
#include "audit/log_files.h"

namespace cordon::audit {
namespace {

void read_head(const Directory& directory, Snapshot& snapshot) {
  const auto file = directory.open(kHeadFile, O_RDONLY);
  if (!file) {
    snapshot.head_error = file.error().message;
    return;
  }
  const auto line = read_from(file->get(), 0, head_length() + 1, directory.path_of(kHeadFile));
  if (line) snapshot.head = parse_head(*line);
  if (!line) {
    snapshot.head_error = line.error().message;
  } else if (!snapshot.head) {
    snapshot.head_error = directory.path_of(kHeadFile) + " is damaged";
  }
}

Snapshot::File open_file(const Directory& directory, std::uint64_t number) {
  Snapshot::File file{.number = number};
  auto opened = directory.open(file_name(number), O_RDONLY);
  struct stat info{};
  if (!opened) {
    file.error = std::move(opened).error().message;
  } else if (::fstat(opened->get(), &info) == 0) {
    file.size = static_cast<std::uint64_t>(info.st_size);
    file.fd = *std::move(opened);
  }
  return file;
}

}  // namespace

Result<Snapshot> take_snapshot(const Directory& directory) {
  Snapshot snapshot;
  // Without a lock file there is no writer to wait for.
  const auto lock_file = directory.open(kLockFile, O_RDONLY);
  std::optional<FileLock> lock;
  if (lock_file) lock.emplace(lock_file->get(), LOCK_SH);
  read_head(directory, snapshot);
  auto listing = directory.list();
  if (!listing) return std::unexpected(std::move(listing).error());
  for (const std::uint64_t number : listing->files) {
    snapshot.files.push_back(open_file(directory, number));
  }
  snapshot.strange = std::move(listing->strange);
  return snapshot;
}

}  // namespace cordon::audit
