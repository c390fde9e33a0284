// A file or a directory of the caller's as an archive for a sandbox.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cordon/error.h"

namespace cordon::app::sandbox {

// Everything at `path`, which is called `name` in the archive, is given to `write` in parts. Links
// are packed as links and never followed, below `path`; devices and the like are counted in
// `skipped`. Errors: the OS's; those of `write`.
[[nodiscard]] Result<void> pack(const std::string& path, const std::string& name,
                                const std::function<Result<void>(std::string_view)>& write,
                                std::uint64_t& skipped);

}  // namespace cordon::app::sandbox
