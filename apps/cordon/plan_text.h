// A plan to be read by people, and by programs. Pure.
#pragma once

#include <string>

#include "cordon/plan.h"

namespace cordon::app {

// The steps as an aligned table, then the guarantees with their marks.
[[nodiscard]] std::string plan_text(const Plan& plan, bool colours);
// {"schema":"cordon.plan/1","backend","steps":[{"name","detail"}],"enforcement":{…}} and a newline;
// `enforcement` as in an outcome.
[[nodiscard]] std::string plan_json(const Plan& plan);

// One line a guarantee: "  ✓ timeout  enforced by …".
[[nodiscard]] std::string guarantee_line(std::string_view name, const Guarantee& guarantee,
                                         bool colours);

}  // namespace cordon::app
