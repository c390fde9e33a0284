// Whether something was mounted or unmounted in this process's mount namespace. A change is told
// once to each watch. Used by one thread at a time.
#pragma once

#include "base/fd.h"

namespace cordon::linux_backend {

class MountWatch {
 public:
  MountWatch();

  // False: it cannot be watched; then changed() is always true.
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(file_); }
  // Since it was asked last, or made.
  [[nodiscard]] bool changed() const;
  // Ready for EPOLLPRI after a change, which tells it.
  [[nodiscard]] int fd() const { return file_.get(); }

 private:
  base::Fd file_;
};

}  // namespace cordon::linux_backend
