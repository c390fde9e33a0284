// What `cordon audit show` is asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/filter.h"
#include "cordon/clock.h"
#include "cordon/error.h"

namespace cordon::app {

struct AuditQuery {
  std::string directory;
  audit::Filter filter;
  std::uint64_t limit = 0;  // 0: none
  bool json = false;
  bool follow = false;
  bool help = false;  // then nothing else counts
};

// Times may be given as a duration before `now`. Error: invalid_argument, naming the option.
[[nodiscard]] Result<AuditQuery> parse_audit_query(std::vector<std::string> arguments,
                                                   WallTime now);

}  // namespace cordon::app
