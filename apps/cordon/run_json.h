// The object that `cordon run --json` prints. Pure.
#pragma once

#include <string>

#include "cordon/outcome.h"

namespace cordon::app {

// "stdout":…,"stderr":… alone.
[[nodiscard]] std::string streams_json(const Outcome& outcome);

// {"schema":"cordon.run/1","stdout":…,"stderr":…,"outcome":{…}} and a newline, from `out` and `err`
// of the outcome. What is not UTF-8 becomes "stdout_base64" or "stderr_base64" instead.
[[nodiscard]] std::string run_json(const Outcome& outcome);

}  // namespace cordon::app
