#include "backend/linux/network_stock.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>
#include <optional>
#include <utility>

namespace cordon::linux_backend {
namespace {

// The network namespace of this thread. Not by way of /proc/thread-self: see SpawnerLink.
base::Fd current_network() {
  const base::Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return base::Fd(socket ? ::ioctl(socket.get(), SIOCGSKNS) : -1);
}

// On the keeper's thread, which goes into the new namespace and comes back.
std::optional<base::Fd> make_one() {
  const base::Fd home = current_network();
  // Whoever is not allowed to come back does not leave: a filter may refuse setns().
  if (!home || ::setns(home.get(), CLONE_NEWNET) != 0) return std::nullopt;
  if (::unshare(CLONE_NEWNET) != 0) return std::nullopt;
  base::Fd made = base::move_up(current_network());
  // A thread that cannot come back must not start a spawner there.
  if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
  if (!made) return std::nullopt;
  return made;
}

}  // namespace

Stock<base::Fd> stock_of_networks(Keeper& keeper) { return {keeper, make_one}; }

}  // namespace cordon::linux_backend
