// For processors without instructions for SHA-256, or none that are known here.
#include "base/sha256_blocks.h"

namespace cordon::base {

bool has_sha256_instructions() { return false; }
void sha256_blocks_by_instructions(Sha256State& state, const std::uint8_t* data,
                                   std::size_t blocks) {
  sha256_blocks_portable(state, data, blocks);
}

}  // namespace cordon::base
