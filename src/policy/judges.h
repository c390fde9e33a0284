// The parts of evaluate(): one function a subject. Each reads the asks, writes decisions, and puts
// what is allowed into the request.
#pragma once

#include <string>
#include <string_view>

#include "policy/evaluate.h"

namespace cordon::policy {

struct Case {
  const Policy& policy;
  const Asks& asks;
  const Surroundings& surroundings;
  Evaluation& result;

  void allow(std::string subject, std::string value, const Place& decided_by,
             const Place& asked_by) const;
  // The message is "ASKED: SUBJECT VALUE why DECIDED …: what to do".
  void refuse(std::string subject, std::string value, const Place& decided_by,
              const Place& asked_by, std::string message) const;
};

void judge_backend(const Case& all);
void judge_limits(const Case& all);
void judge_network(const Case& all);
void judge_user(const Case& all);
void judge_environment(const Case& all);
void judge_paths(const Case& all);
void judge_secrets(const Case& all);
void judge_tools(const Case& all);

// The command's option, for asks that came from the request.
[[nodiscard]] inline Place option(std::string name) { return {.file = std::move(name)}; }

// The entry of the list that matches as a glob; null if none does.
[[nodiscard]] const Placed<std::string>* match(const Texts& list, std::string_view text);

}  // namespace cordon::policy
