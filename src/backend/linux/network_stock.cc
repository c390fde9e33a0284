#include "backend/linux/network_stock.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>

namespace cordon::linux_backend {
namespace {

constexpr std::size_t kReady = 4;
constexpr const char* kOwn = "/proc/thread-self/ns/net";

bool raise_loopback() {
  const base::Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  return socket && ::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0;
}

// On the keeper's thread, which goes into the new namespace and comes back.
base::Fd make_one(bool loopback) {
  const base::Fd home(::open(kOwn, O_RDONLY | O_CLOEXEC));
  if (!home || ::unshare(CLONE_NEWNET) != 0) return {};
  base::Fd made;
  if (!loopback || raise_loopback()) {
    made = base::move_up(base::Fd(::open(kOwn, O_RDONLY | O_CLOEXEC)));
  }
  // A thread that cannot come back must not start a spawner there.
  if (::setns(home.get(), CLONE_NEWNET) != 0) std::abort();
  return made;
}

}  // namespace

void NetworkStock::refill(State& state, bool loopback) {
  Shelf& shelf = state.shelves[loopback ? 1 : 0];
  for (;;) {
    {
      const std::lock_guard lock(state.mutex);
      if (shelf.ready.size() >= kReady) {
        shelf.refilling = false;
        return;
      }
    }
    base::Fd made = make_one(loopback);
    const std::lock_guard lock(state.mutex);
    if (!made) {  // nobody depends on it
      shelf.refilling = false;
      return;
    }
    shelf.ready.push_back(std::move(made));
  }
}

base::Fd NetworkStock::take(Network network) {
  if (network == Network::host) return {};
  const bool loopback = network == Network::loopback;
  const std::lock_guard lock(state_->mutex);
  Shelf& shelf = state_->shelves[loopback ? 1 : 0];
  base::Fd taken;
  if (!shelf.ready.empty()) {
    taken = std::move(shelf.ready.back());
    shelf.ready.pop_back();
  }
  const bool again = std::exchange(shelf.asked_before, true);
  if (again && !shelf.refilling && shelf.ready.size() < kReady) {
    shelf.refilling = true;
    keeper_.post([state = state_, loopback] { refill(*state, loopback); });
  }
  return taken;
}

}  // namespace cordon::linux_backend
