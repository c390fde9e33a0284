// What `cordon doctor` tells, from what was found out. Pure.
#pragma once

#include <string>
#include <string_view>

#include "cordon/manager.h"
#include "plan/host.h"

namespace cordon::app {

struct Diagnosis {
  Capabilities capabilities;  // of the backend that would be used
  std::string why_not_linux;  // empty: the linux backend works
  plan::HostCapabilities host;
};

[[nodiscard]] bool all_enforced(const Diagnosis& diagnosis);
// What an administrator can do to have this guarantee; empty: it is kept, or nothing is known.
[[nodiscard]] std::string fix_for(std::string_view guarantee, const Diagnosis& diagnosis);

// The guarantees with their fixes, then the facts.
[[nodiscard]] std::string doctor_text(const Diagnosis& diagnosis, bool colours);
// {"schema":"cordon.doctor/1","ok","backend","why_not_linux","enforcement":{…},"fixes":{…},
//  "host":{…}} and a newline.
[[nodiscard]] std::string doctor_json(const Diagnosis& diagnosis);

}  // namespace cordon::app
