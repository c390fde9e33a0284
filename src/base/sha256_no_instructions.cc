// For processors without instructions for SHA-256, or none that are known here.
#include "base/sha256_blocks.h"

namespace cordon::base {

bool has_sha256_instructions() { return false; }
void sha256_blocks_by_instructions(Sha256State& state, const std::uint8_t* data,
                                   std::size_t blocks) {
  sha256_blocks_portable(state, data, blocks);
}
void sha256_two_by_instructions(std::array<Sha256State, 2>& states,
                                const std::array<const std::uint8_t*, 2>& data,
                                std::size_t blocks) {
  for (std::size_t i = 0; i < 2; ++i) sha256_blocks_portable(states[i], data[i], blocks);
}

}  // namespace cordon::base
