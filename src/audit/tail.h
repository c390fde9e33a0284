// What lies behind the records that the head knows: the remains of a writer that died. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "audit/head.h"
#include "audit/seal.h"

namespace cordon::audit {

struct Tail {
  Head head;                 // with the whole records that are there
  std::size_t accepted = 0;  // bytes of those; what follows is torn
};

// `bytes` is what follows `head.size` in the head's file. Records there were written as the chain
// wants it, only nobody was told: they count. Anything else is half a record.
[[nodiscard]] Tail examine_tail(const Head& head, std::string_view bytes, const Sealer& sealer);

}  // namespace cordon::audit
