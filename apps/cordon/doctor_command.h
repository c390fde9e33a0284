// The verb `doctor`: what this host can enforce, and what to do about the rest.
#pragma once

#include <string>
#include <vector>

namespace cordon::app {

// `arguments` is what follows "cordon doctor". Returns the exit status: 0, or 1 when a guarantee is
// not fully enforced here.
[[nodiscard]] int doctor_command(std::vector<std::string> arguments);

}  // namespace cordon::app
