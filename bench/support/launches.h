// The other side of the baseline: a program launched by Cordon and waited for.
#pragma once

#include <string>

#include "cordon/manager.h"
#include "support/samples.h"

namespace cordon::bench {

// Its streams are /dev/null, and it has the limits of an ordinary sandbox.
[[nodiscard]] Request limited_request(const std::string& path);

// From create() to its end; gives up unless it just exits.
[[nodiscard]] Outcome launch(Manager& manager, const Request& request);

struct Goals {
  double p50 = 0;  // at the most this many times posix_spawn; 0: for information
  double p99 = 0;
};

// A row for each percentile, ours against a bare posix_spawn.
void report_launches(const std::string& name, const Samples& ours, const Samples& bare,
                     Goals goals);

}  // namespace cordon::bench
