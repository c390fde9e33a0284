// The forms in which a value turns up in a program's output: as it is, and as programs encode it.
// They are secrets themselves, and kept as such.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/locked_bytes.h"
#include "cordon/error.h"

namespace cordon::secrets {

// Each form once: the bytes; with "\r\n" for "\n", as terminals write it; hexadecimal in both
// cases; percent-encoded (RFC 3986) in both cases; within a JSON string, with characters beyond
// ASCII as they are and as \uXXXX; base64 in both alphabets, as part of a longer text too: at each
// of the three places a value can have in it, the digits that stand for the value alone.
class Forms {
 public:
  // `value` is not empty. Error: resource_exhausted.
  [[nodiscard]] static Result<Forms> of(std::string_view value);

  // Valid as long as this lives; moving it does not move them.
  [[nodiscard]] const std::vector<std::string_view>& all() const { return all_; }

 private:
  base::LockedBytes store_;
  std::vector<std::string_view> all_;
};

}  // namespace cordon::secrets
