// What an earlier batch has done already, from the results that it wrote. Pure, but for reading.
#pragma once

#include <cstdint>
#include <string_view>

#include "batch_input.h"
#include "batch_tally.h"
#include "cordon/error.h"

namespace cordon::app {

struct Resumed {
  std::uint64_t done = 0;   // requests
  std::uint64_t bytes = 0;  // of whole results; what follows was not written to its end
  bool torn = false;        // something does follow
};

// Compares each result with its request, and leaves `requests` after the last one that is done.
// `options` as for request_digest(). Error: invalid_argument, the message names the line: it is no
// result, or that of another request or of other options; or there are more results than requests.
[[nodiscard]] Result<Resumed> scan_results(BatchInput& results, LineReader& requests,
                                           std::string_view options, Tally& tally);

}  // namespace cordon::app
