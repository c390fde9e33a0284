#include "outcome/denial_log.h"

#include <utility>

namespace cordon::outcome {

void DenialLog::add(Denial denial) {
  for (Denial& known : denials_) {
    if (known.kind == denial.kind && known.what == denial.what && known.access == denial.access) {
      known.count += denial.count;
      return;
    }
  }
  if (denials_.size() < kMostDenials) {
    denials_.push_back(std::move(denial));
  } else {
    omitted_ += denial.count;
  }
}

}  // namespace cordon::outcome
