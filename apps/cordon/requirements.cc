#include "requirements.h"

#include <algorithm>

#include "base/errors.h"
#include "concat.h"
#include "outcome/enforcement.h"

namespace cordon::app {

Result<void> check_required(const std::vector<std::string>& required, const Plan& plan) {
  std::vector<std::string> missing;
  for (const auto& [name, member] : outcome::kGuarantees) {
    const Guarantee& guarantee = plan.enforcement.*member;
    if (std::ranges::find(required, name) == required.end()) continue;
    if (guarantee.level == Guarantee::Level::enforced) continue;
    missing.push_back(concat(name, " (", describe(guarantee), ")"));
  }
  if (missing.empty()) return {};
  return base::fail(ErrorCode::unsupported, "require",
                    concat("the program was not run, because the backend ", plan.backend,
                           " does not fully enforce what --require asks for: ",
                           comma_separated(missing), "; choose another --backend or require less"));
}

}  // namespace cordon::app
