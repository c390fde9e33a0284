// Decisions of a policy, for people and for scripts.
#pragma once

#include <string>

#include "policy_options.h"

namespace cordon::app {

// "site.toml: fine (2 files, profiles build, test)"
[[nodiscard]] std::string check_line(const std::string& file, const policy::Policy& policy);
// A line for each decision, then what was refused and what to do.
[[nodiscard]] std::string decisions_text(const JudgedRun& judged, bool colours);
// {"schema","allowed","digest","files","decisions"}
[[nodiscard]] std::string decisions_json(const JudgedRun& judged);

}  // namespace cordon::app
