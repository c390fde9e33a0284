// Network namespaces made ahead: making one is the most expensive step of a sandbox.
#pragma once

#include "backend/linux/keeper.h"
#include "backend/linux/stock.h"
#include "base/fd.h"
#include "cordon/isolation.h"

namespace cordon::linux_backend {

// Thread-safe. For privileged callers: the namespaces belong to the caller's own user namespace, so
// that nothing inside a sandbox has any power over them.
class NetworkStock {
 public:
  explicit NetworkStock(Keeper& keeper);

  // Begins to make the first silent one, which takes long: most runs want one.
  void begin() { silent_.begin(); }

  // Empty if there is none now: the set-up process then makes its own.
  [[nodiscard]] base::Fd take(Network network);

 private:
  Stock<base::Fd> silent_;
  Stock<base::Fd> loopback_;  // with an interface that is up
};

}  // namespace cordon::linux_backend
