// The layers of an image, one on the other, in a directory.
#pragma once

#include "cordon/error.h"
#include "image/image.h"
#include "image/layer.h"

namespace cordon::image {

// `directory` is empty, and nobody else's. If it fails, what is there by then is worth nothing.
// Errors: invalid_argument (damaged, another digest, names that lead out), unsupported (packed with
// zstd), resource_exhausted (the budget), those of the OS.
[[nodiscard]] Result<void> unpack_layers(const Image& image, int directory, Budget& budget);

}  // namespace cordon::image
