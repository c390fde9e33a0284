// One request of a batch, from a line of JSON. Its keys are named as the options of `cordon run`
// are, with "_" for "-", and mean the same: see docs/batch.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "batch_input.h"
#include "cordon/error.h"
#include "run_options.h"

namespace cordon::app {

inline constexpr std::size_t kLongestRequest = std::size_t{1024} * 1024;

struct BatchRequest {
  std::optional<std::string> id;
  RunOptions options;  // the defaults, and what the line says
};

// Scalars of the line replace those of `defaults`; lists and variables are added to them. The
// streams are filled in. Error: invalid_argument, stage "input", "FILE:LINE:COLUMN: …": no JSON, a
// key that is not known (with the nearest one that is), a value that the option would not take, or
// a request that cannot be run anywhere.
[[nodiscard]] Result<BatchRequest> read_request(const InputLine& line, const std::string& file,
                                                const RunOptions& defaults);

// The id of a line that is no request, as far as it can be found; for its error.
[[nodiscard]] std::optional<std::string> find_id(const InputLine& line);

// Of a line and of the options that all requests have in common: by this a result knows what it
// is the result of.
[[nodiscard]] std::string request_digest(const InputLine& line, std::string_view options);

}  // namespace cordon::app
