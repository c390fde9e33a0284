// What can be seen in a network namespace of those who were in it: sockets that somebody still
// holds, ports that are not free again, counters, lingering labels. Used to see that there is
// nothing. Used by one thread at a time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace cordon::linux_backend {

class NetworkTraces {
 public:
  // Takes down what there is now, in the namespace of the process `inside`. Nothing: it cannot be
  // told, or there is a socket already.
  [[nodiscard]] static std::optional<NetworkTraces> take(pid_t inside);

  // Whether there is exactly what there was, and no socket. In doubt not.
  [[nodiscard]] bool unchanged() const;

 private:
  NetworkTraces() = default;
  [[nodiscard]] std::optional<std::string> look() const;

  std::vector<base::Fd> files_;  // of the namespace, whoever is in it
  std::string before_;
};

// What counts in the text of a /proc/PID/net/sockstat: the fields about this namespace alone. The
// others are about all of them. Pure.
[[nodiscard]] std::optional<std::string> own_part_of_sockstat(std::string_view text);

}  // namespace cordon::linux_backend
