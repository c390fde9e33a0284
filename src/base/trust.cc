#include "base/trust.h"

#include <unistd.h>

namespace cordon::base {

bool owner_is_trusted(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == ::geteuid();
}

bool others_may_write(const struct stat& info, Sticky sticky) {
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return false;
  return sticky == Sticky::is_open || (info.st_mode & S_ISVTX) == 0;
}

}  // namespace cordon::base
