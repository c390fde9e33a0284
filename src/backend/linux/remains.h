// What a run of a tenant has left that is expensive to make: its control groups, and its network
// namespace. Nothing else outlives a run; and these serve another one only once they are as if
// nobody had been there.
#pragma once

#include <memory>
#include <optional>

#include "backend/linux/cgroup.h"
#include "backend/linux/network_traces.h"
#include "base/fd.h"

namespace cordon::linux_backend {

struct Remains {
  std::unique_ptr<Cgroup> group{};
  base::Fd network{};
  std::optional<NetworkTraces> traces{};  // of that network, before the first program in it
  base::Fd mounts{};  // the namespace, which holds memory of the group: it goes first

  [[nodiscard]] bool any() const { return group || network; }
  // Of the host's memory, that is counted for the group.
  [[nodiscard]] std::uint64_t memory_bytes() const;
  // The mounts, and what cannot be used again anyway.
  void drop_rest();
  // Keeps what is as good as new, as the kernel tells. The rest ends.
  void clean();
};

}  // namespace cordon::linux_backend
