// --rootfs IMAGE: what an image says is for where the command line says nothing; what it has in it
// becomes the root.
#pragma once

#include <optional>

#include "cordon/error.h"
#include "image/image.h"
#include "run_options.h"

namespace cordon::app {

// Before the policy has its say: opens the image, if one was named, and puts what it says about
// program, variables and working directory into the request. Errors: those of open_image();
// invalid_argument if nobody names a program.
[[nodiscard]] Result<std::optional<image::Image>> open_rootfs(RunOptions& options);

// After that: unpacks it, unless that was done before, and makes that the root of the request.
// Tells on stderr of what was left out. Errors: those of unpack_into_cache().
[[nodiscard]] Result<void> unpack_rootfs(const std::optional<image::Image>& image,
                                         RunOptions& options);

}  // namespace cordon::app
