// Network namespaces made ahead: making one is the most expensive step of a sandbox.
#pragma once

#include "backend/linux/keeper.h"
#include "backend/linux/stock.h"
#include "base/fd.h"

namespace cordon::linux_backend {

// For privileged callers: the namespaces belong to the caller's own user namespace, so that nothing
// inside a sandbox has any power over them. Their loopback interface is down.
[[nodiscard]] Stock<base::Fd> stock_of_networks(Keeper& keeper);

}  // namespace cordon::linux_backend
