#include "policy/obstacles.h"

#include <algorithm>

#include "policy/evaluate.h"

namespace cordon::policy {
namespace {

// Asks for nothing but what the denial is about.
Asks asks_for(const Denial& denial) {
  Asks asks;
  if (denial.network) asks.request.network = *denial.network;
  if (denial.grant) {
    asks.request.grants = {*denial.grant};
    asks.grants = {{.grant = *denial.grant, .asked_as = denial.grant->source}};
  }
  return asks;
}

bool is_about(const Decision& decision, const Denial& denial) {
  if (denial.network) return decision.subject == "network";
  return decision.subject == "read" || decision.subject == "write" || decision.subject == "tmpfs" ||
         decision.subject == "target";
}

}  // namespace

std::vector<Place> obstacles(const Policy& policy, const Denial& denial) {
  if (!denial.grant && !denial.network) return {};
  const Asks asks = asks_for(denial);
  std::vector<Place> places;
  // One at a time: the first refusal ends the judgement of a path by one file, and a list of what
  // is allowed may be behind what is denied.
  for (const Ceiling& ceiling : policy.ceilings) {
    Policy one{.ceilings = {ceiling}};
    for (const bool with_denied : {true, false}) {
      if (!with_denied) {
        one.ceilings.front().paths.deny_read.reset();
        one.ceilings.front().paths.deny_write.reset();
      }
      for (const Decision& decision : evaluate(one, asks, {}).decisions) {
        if (decision.allowed || !is_about(decision, denial)) continue;
        if (std::ranges::find(places, decision.decided_by) == places.end()) {
          places.push_back(decision.decided_by);
        }
      }
    }
  }
  return places;
}

}  // namespace cordon::policy
