// Network namespaces made ahead: making one is the most expensive step of a sandbox, and an empty
// one is the same for every run. Each is used once.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/linux/keeper.h"
#include "base/fd.h"
#include "cordon/isolation.h"

namespace cordon::linux_backend {

// Thread-safe. For privileged callers: the namespaces belong to the caller's own user namespace, so
// that nothing inside a sandbox has any power over them.
class NetworkStock {
 public:
  explicit NetworkStock(Keeper& keeper) : keeper_(keeper) {}

  // Empty if there is none now: the set-up process then makes its own. Nothing is made ahead until
  // a second one was asked for: a command that runs one program needs no stock.
  [[nodiscard]] base::Fd take(Network network);

 private:
  struct Shelf {
    std::vector<base::Fd> ready;
    bool asked_before = false;
    bool refilling = false;
  };
  // Shared with jobs of the keeper that may run after us.
  struct State {
    std::mutex mutex;
    Shelf shelves[2];  // without and with a loopback interface that is up
  };
  static void refill(State& state, bool loopback);

  Keeper& keeper_;
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace cordon::linux_backend
