// The spawner's program file, as part of this library.
#pragma once

#include <span>

namespace cordon::linux_backend {

[[nodiscard]] std::span<const char> spawner_image();

}  // namespace cordon::linux_backend
