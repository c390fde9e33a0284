#include "backend/linux/remains.h"

namespace cordon::linux_backend {

std::uint64_t Remains::memory_bytes() const {
  return group ? group->memory_bytes().value_or(0) : 0;
}

void Remains::drop_rest() {
  mounts.reset();
  if (!traces) network.reset();
}

void Remains::clean() {
  drop_rest();
  if (group && !group->renew()) group.reset();
  if (network && !traces->unchanged()) {
    traces.reset();
    network.reset();
  }
}

}  // namespace cordon::linux_backend
