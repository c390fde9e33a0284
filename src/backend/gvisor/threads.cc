#include "backend/gvisor/threads.h"

namespace cordon::gvisor_backend {

Result<std::unique_ptr<Threads>> Threads::start() {
  std::unique_ptr<Threads> made(new Threads);
  for (auto* const thread : {&made->parent_, &made->cleaner_}) {
    auto started = linux_backend::Keeper::start();
    if (!started) return std::unexpected(std::move(started.error()));
    *thread = std::move(*started);
  }
  return made;
}

}  // namespace cordon::gvisor_backend
