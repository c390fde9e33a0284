#include "backend/posix/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace cordon::posix {

void allow_open_files(std::uint64_t most) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, most));
  // With fewer than it would like to have, a service says so when it has none left.
  (void)::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace cordon::posix
