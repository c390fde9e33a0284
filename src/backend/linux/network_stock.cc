#include "backend/linux/network_stock.h"

#include <fcntl.h>
#include <sched.h>

#include <cstdlib>
#include <optional>
#include <utility>

namespace cordon::linux_backend {
namespace {

constexpr const char* kOwn = "/proc/thread-self/ns/net";

// On the keeper's thread, which goes into the new namespace and comes back.
std::optional<base::Fd> make_one() {
  const base::Fd home(::open(kOwn, O_RDONLY | O_CLOEXEC));
  // Whoever is not allowed to come back does not leave: a filter may refuse setns().
  if (!home || ::setns(home.get(), CLONE_NEWNET) != 0) return std::nullopt;
  if (::unshare(CLONE_NEWNET) != 0) return std::nullopt;
  base::Fd made = base::move_up(base::Fd(::open(kOwn, O_RDONLY | O_CLOEXEC)));
  // A thread that cannot come back must not start a spawner there.
  if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
  if (!made) return std::nullopt;
  return made;
}

}  // namespace

Stock<base::Fd> stock_of_networks(Keeper& keeper) { return {keeper, make_one}; }

}  // namespace cordon::linux_backend
