// Records as a table for people.
#pragma once

#include <string>

#include "audit/filter.h"

namespace cordon::app {

[[nodiscard]] std::string audit_header(bool colours);
// One line. What comes from programs cannot command a terminal.
[[nodiscard]] std::string audit_row(const audit::Seen& record);

}  // namespace cordon::app
