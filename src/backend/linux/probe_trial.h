// Tries out namespaces in a child that exits at once. What a failure means is judged elsewhere
// (probe_namespaces.h).
#pragma once

namespace cordon::linux_backend {

// Which namespaces, besides a user namespace.
struct TrialFlags {
  bool mount = true;  // slow at times: to remove one, the kernel waits for all processors
  bool pid = true;
  bool network = false;     // slow: the kernel needs 0.4 ms for one
  bool capability = false;  // whether CAP_SYS_ADMIN is worth anything inside
  bool map_self = true;     // maps the caller's own ids, as an ordinary caller's sandbox does
};

// An errno for each step; 0: it worked, or was not tried.
struct NamespaceTrial {
  int clone = 0;       // making the namespaces
  int map = 0;         // writing uid_map and gid_map
  int mount = 0;       // the first mount in them
  int proc = 0;        // mounting /proc
  int network = 0;     // making a network namespace
  int capability = 0;  // making an uts namespace, the cheapest of all

  [[nodiscard]] bool all_worked() const {
    return clone == 0 && map == 0 && mount == 0 && proc == 0 && network == 0 && capability == 0;
  }
};

[[nodiscard]] NamespaceTrial try_namespaces(const TrialFlags& flags);

}  // namespace cordon::linux_backend
