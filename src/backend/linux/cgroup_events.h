// One descriptor that is readable when one of several control files changed or an eventfd counted.
//
// The files are watched by polling them for EPOLLPRI, not by inotify, of which a user has few
// instances. Used by one thread at a time.
#pragma once

#include <vector>

#include "base/fd.h"

namespace cordon::linux_backend {

class CgroupEvents {
 public:
  // A control file that the kernel notifies about (pids.events, memory.events), opened for reading.
  // False: it could not be added.
  bool watch_file(base::Fd file);
  bool watch_eventfd(base::Fd event);

  // Readable now and then, for what the kernel does not notify about.
  bool watch_clock();

  [[nodiscard]] bool watches_clock() const { return static_cast<bool>(clock_); }

  // -1: nothing is watched.
  [[nodiscard]] int fd() const { return epoll_.get(); }
  // False: nothing but the clock made it readable.
  bool acknowledge();

 private:
  bool add(int fd, unsigned events);

  base::Fd epoll_;
  std::vector<base::Fd> files_;
  std::vector<base::Fd> eventfds_;
  base::Fd clock_;
};

}  // namespace cordon::linux_backend
