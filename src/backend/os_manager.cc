#include "cordon/manager.h"

namespace cordon {

Result<std::unique_ptr<Manager>> os_manager() { return posix_manager(); }

}  // namespace cordon
