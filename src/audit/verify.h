// Is the log what its writers wrote, all of it?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/chain_check.h"
#include "audit/head.h"
#include "audit/seal.h"
#include "cordon/error.h"

namespace cordon::audit {

struct Verification {
  std::uint64_t records = 0;
  std::uint64_t files = 0;
  Head head;
  std::vector<Defect> defects;     // the first ones
  std::uint64_t defect_count = 0;  // of all
  std::uint64_t unfinished = 0;    // bytes that a dead writer left; no defect
};

// Error: nothing could be checked (no such directory; a keyed log and no key, or the other way).
[[nodiscard]] Result<Verification> verify(const std::string& directory, const Sealer& sealer);

}  // namespace cordon::audit
