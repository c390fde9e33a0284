// What a run was refused, gathered: equal ones once, with their number, and never more than fit.
#pragma once

#include <cstdint>
#include <vector>

#include "cordon/outcome.h"

namespace cordon::outcome {

// Used by one thread at a time.
class DenialLog {
 public:
  // The same kind, thing and access count as one; the first one's words are kept.
  void add(Denial denial);
  [[nodiscard]] const std::vector<Denial>& denials() const { return denials_; }
  // How often something was refused that is not among them.
  [[nodiscard]] std::uint64_t omitted() const { return omitted_; }

 private:
  std::vector<Denial> denials_;
  std::uint64_t omitted_ = 0;
};

}  // namespace cordon::outcome
