// Images that were unpacked, each once, below the user's cache directory; named by what they are,
// so that nothing in the place of one can be another.
//
// One that is being unpacked has another name until it is whole. Several may do that at once: the
// first one to be done wins. What a dead process has left is removed by the next one.
#pragma once

#include <cstdint>
#include <string>

#include "cordon/error.h"
#include "image/image.h"
#include "image/layer.h"

namespace cordon::image {

struct UnpackedImage {
  std::string root{};         // the directory, absolute
  bool was_there = false;     // unpacked before
  std::uint64_t skipped = 0;  // devices and the like that it has not; 0 if it was there
};

// `cache`: absolute; empty: default_cache(). Errors: those of unpack_layers(), of
// workdir::open_safe_directory() and default_cache().
[[nodiscard]] Result<UnpackedImage> unpack_into_cache(const Image& image, std::string cache = {},
                                                      Budget budget = {});

}  // namespace cordon::image
