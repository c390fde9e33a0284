#include "plan_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "marks.h"
#include "outcome/enforcement.h"

namespace cordon::app {

std::string guarantee_line(std::string_view name, const Guarantee& guarantee, bool colours) {
  constexpr std::size_t kWidth = 12;  // of "capabilities"
  return fmt::format("  {} {:<{}}  {}\n", mark(guarantee.level, colours), name, kWidth,
                     describe(guarantee));
}

std::string plan_text(const Plan& plan, bool colours) {
  std::size_t width = std::string_view("step").size();
  for (const PlanStep& step : plan.steps) width = std::max(width, step.name.size());

  std::string text = fmt::format("{}\n\n", bold("backend " + plan.backend, colours));
  text += bold(fmt::format("{:<{}}  detail", "step", width), colours) + '\n';
  for (const PlanStep& step : plan.steps) {
    text += fmt::format("{:<{}}  {}\n", step.name, width, step.detail);
  }
  text += fmt::format("\n{}\n", bold("guarantees", colours));
  for (const auto& [name, member] : outcome::kGuarantees) {
    text += guarantee_line(name, plan.enforcement.*member, colours);
  }
  return text;
}

std::string plan_json(const Plan& plan) {
  std::string steps;
  for (const PlanStep& step : plan.steps) {
    if (!steps.empty()) steps += ',';
    steps += fmt::format(R"({{"name":{},"detail":{}}})", base::json_text(step.name),
                         base::json_text(step.detail));
  }
  return fmt::format(R"({{"schema":"cordon.plan/1","backend":{},"steps":[{}],"enforcement":{}}})"
                     "\n",
                     base::json_text(plan.backend), steps, outcome::to_json(plan.enforcement));
}

}  // namespace cordon::app
