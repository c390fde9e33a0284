#include "backend/linux/network_stock.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

namespace cordon::linux_backend {
namespace {

constexpr const char* kOwn = "/proc/thread-self/ns/net";

bool raise_loopback() {
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

// On the keeper's thread, which goes into the new namespace and comes back.
std::optional<base::Fd> make_one(bool loopback) {
  const base::Fd home(::open(kOwn, O_RDONLY | O_CLOEXEC));
  // Whoever is not allowed to come back does not leave: a filter may refuse setns().
  if (!home || ::setns(home.get(), CLONE_NEWNET) != 0) return std::nullopt;
  if (::unshare(CLONE_NEWNET) != 0) return std::nullopt;
  base::Fd made;
  if (!loopback || raise_loopback()) {
    made = base::move_up(base::Fd(::open(kOwn, O_RDONLY | O_CLOEXEC)));
  }
  // A thread that cannot come back must not start a spawner there.
  if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
  if (!made) return std::nullopt;
  return made;
}

}  // namespace

NetworkStock::NetworkStock(Keeper& keeper)
    : silent_(keeper, [] { return make_one(false); }),
      loopback_(keeper, [] { return make_one(true); }) {}

base::Fd NetworkStock::take(Network network) {
  if (network == Network::host) return {};
  auto taken = network == Network::loopback ? loopback_.take() : silent_.take();
  return taken ? *std::move(taken) : base::Fd();
}

}  // namespace cordon::linux_backend
