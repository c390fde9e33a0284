// The head: how far the log goes. Without it nobody would miss records cut off the end.
//
// One line of a fixed length in the file `head`, overwritten in place under the log's lock, after
// the records it tells of. So a writer that dies in between leaves records that the head does not
// know yet (the next writer takes them in), and never a head that knows records which are not
// there: those were cut off.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/seal.h"
#include "cordon/error.h"

namespace cordon::audit {

struct Head {
  std::uint64_t sequence = 0;    // of the last record
  std::uint64_t file = 1;        // where the next one goes …
  std::uint64_t size = 0;        // … and how long that file is
  std::string hash = no_seal();  // of the last record
  bool keyed = false;

  friend bool operator==(const Head&, const Head&) = default;
};

[[nodiscard]] std::string head_line(const Head& head);
// Empty: not a head.
[[nodiscard]] std::optional<Head> parse_head(std::string_view line);
// All heads are so long.
[[nodiscard]] std::size_t head_length();

}  // namespace cordon::audit
