#include "cordon/version.h"

namespace cordon {

std::string_view version() noexcept { return CORDON_VERSION; }

}  // namespace cordon
