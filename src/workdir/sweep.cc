#include "workdir/sweep.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"
#include "workdir/beneath.h"
#include "workdir/directory_reader.h"
#include "workdir/names.h"

namespace cordon::workdir {
namespace {

struct Leftover {
  std::string name;
  base::Fd directory;  // locked by us
};

// A few at a time: each is an open descriptor.
constexpr std::size_t kMost = 32;

std::vector<Leftover> find_leftovers(int parent) {
  std::vector<Leftover> all;
  // Somebody is making one, or sweeping: the next run will do.
  if (!lock(parent, LOCK_EX | LOCK_NB)) return all;
  DirectoryReader reader(parent);
  while (all.size() < kMost) {
    const auto entry = reader.next();
    if (!entry) break;
    if (!may_be_swept(entry->name)) continue;
    base::Fd directory = open_beneath(parent, entry->name, O_RDONLY | O_DIRECTORY);
    if (!directory && errno == EACCES) directory = open_to_empty(parent, entry->name);
    if (directory && lock(directory.get(), LOCK_EX | LOCK_NB)) {
      all.push_back({entry->name, std::move(directory)});
    }
  }
  (void)lock(parent, LOCK_UN);
  return all;
}

}  // namespace

bool lock(int fd, int operation) {
  while (::flock(fd, operation) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

std::string sweep(int parent, const std::string& path, const Deadline& deadline) {
  std::string complaint;
  std::size_t removed = 0;
  do {
    removed = 0;
    for (const Leftover& leftover : find_leftovers(parent)) {
      const auto gone = remove_directory(parent, leftover.name, leftover.directory.get(),
                                         path + "/" + leftover.name, deadline);
      if (gone) {
        ++removed;
      } else if (complaint.empty() && gone.error().code != ErrorCode::timed_out) {
        complaint = gone.error().message;
      }
    }
  } while (removed == kMost && !deadline.passed());
  return complaint;
}

Result<void> remove_directory(int parent, const std::string& name, int directory,
                              const std::string& path, const Deadline& deadline) {
  if (auto empty = empty_directory(directory, path, deadline); !empty) return empty;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return base::fail_os("clean-up", errno,
                       "cannot remove the work directory " + base::printable(path));
}

}  // namespace cordon::workdir
