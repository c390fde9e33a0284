// Ids on the host for the programs of a privileged caller: each run has a uid of its own, and a
// user namespace that maps only this one.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/fd.h"
#include "cordon/error.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

// The range of uids (and gids) taken for runs. No distribution hands these out: they lie above the
// ranges of containers and below 2^31.
inline constexpr std::uint32_t kFirstRunId = 1'900'000'000;
inline constexpr std::uint32_t kRunIds = 65'536;

struct RunIdentity {
  User host;
  User inside;
  base::Fd lock;            // holds the uid; empty: it was named by the request
  base::Fd user_namespace;  // inside ↔ host
  base::Fd mount_map;       // caller ↔ host: for idmapped grants. Made when first needed
};

// Thread-safe.
class Identities {
 public:
  // For a plan whose identity has no host ids, one that nobody uses now; else the named one.
  [[nodiscard]] Result<std::unique_ptr<RunIdentity>> take(const plan::Identity& wanted);
  // The descriptor for MOUNT_ATTR_IDMAP: the caller's files appear as the program's.
  [[nodiscard]] Result<int> mount_map(RunIdentity& identity, const User& caller);
  void give_back(std::unique_ptr<RunIdentity> identity);

 private:
  [[nodiscard]] Result<void> lock_id(RunIdentity& identity);

  std::mutex mutex_;
  std::vector<std::unique_ptr<RunIdentity>> free_;
};

}  // namespace cordon::linux_backend
