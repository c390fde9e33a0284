// The documents of an image, or anything at all. What they point to is named by digits alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "image/config.h"

namespace {

void expect_digest(const std::string& digest) {
  const bool hex = digest.size() == 64 && std::ranges::all_of(digest, [](char c) {
                     return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                   });
  if (!hex) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto index = cordon::image::read_index(text)) {
    for (const auto& one : *index) expect_digest(one.digest);
  }
  if (const auto manifest = cordon::image::read_manifest(text)) {
    expect_digest(manifest->config.digest);
    for (const auto& one : manifest->layers) expect_digest(one.digest);
  }
  if (const auto config = cordon::image::read_config(text)) {
    for (const std::string& layer : config->layers) expect_digest(layer);
  }
  (void)cordon::image::read_saved(text);
  return 0;
}
