#include "policy_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_text.h"
#include "base/printable.h"
#include "concat.h"
#include "marks.h"

namespace cordon::app {
namespace {

using policy::Decision;

std::string asker(const Decision& decision) {
  return decision.asked_by.file.empty() ? "default" : to_string(decision.asked_by);
}

std::string decider(const Decision& decision) {
  return decision.decided_by.file.empty() ? "nothing limits it" : to_string(decision.decided_by);
}

std::size_t width_of(const std::vector<Decision>& decisions, std::string_view title, auto text) {
  constexpr std::size_t kMost = 40;
  std::size_t width = title.size();
  for (const Decision& decision : decisions) width = std::max(width, text(decision).size());
  return std::min(width, kMost);
}

}  // namespace

std::string check_line(const std::string& file, const policy::Policy& policy) {
  std::string about;
  if (policy.files.size() > 1) about = fmt::format("{} files", policy.files.size());
  if (!policy.profiles.empty()) {
    about += fmt::format("{}profile{} {}", about.empty() ? "" : ", ",
                         policy.profiles.size() == 1 ? "" : "s", comma_separated(policy.profiles));
  }
  return fmt::format("{}: fine{}\n", base::printable(file),
                     about.empty() ? "" : fmt::format(" ({})", base::printable(about)));
}

std::string decisions_text(const JudgedRun& judged, bool colours) {
  const auto& decisions = judged.answer.evaluation.decisions;
  const auto subject = [](const Decision& one) { return one.subject; };
  const auto value = [](const Decision& one) { return base::printable(one.value); };
  const std::size_t subjects = width_of(decisions, "subject", subject);
  const std::size_t values = width_of(decisions, "value", value);
  const std::size_t askers = width_of(decisions, "asked by", asker);
  const auto row = [&](std::string_view mark_text, const std::string& a, const std::string& b,
                       const std::string& c, const std::string& d) {
    return fmt::format("{} {:<{}}  {:<{}}  {:<{}}  {}\n", mark_text, a, subjects, b, values, c,
                       askers, d);
  };
  std::string text = bold(row(" ", "subject", "value", "asked by", "decided by"), colours);
  std::string refused;
  for (const Decision& one : decisions) {
    const auto level = one.allowed ? Guarantee::Level::enforced : Guarantee::Level::none;
    text += row(mark(level, colours), one.subject, value(one), asker(one), decider(one));
    if (!one.allowed) refused += one.message + '\n';
  }
  if (refused.empty()) return text + "\nallowed\n";
  return text + "\nrefused\n" + refused;
}

std::string decisions_json(const JudgedRun& judged) {
  std::string decisions;
  for (const Decision& one : judged.answer.evaluation.decisions) {
    if (!decisions.empty()) decisions += ',';
    decisions += fmt::format(
        R"({{"subject":{},"value":{},"allowed":{},"asked_by":{},"decided_by":{},"message":{}}})",
        base::json_text(one.subject), base::json_text_or_null(one.value),
        base::json_bool(one.allowed),
        one.asked_by.file.empty() ? "null" : base::json_text(to_string(one.asked_by)),
        one.decided_by.file.empty() ? "null" : base::json_text(to_string(one.decided_by)),
        base::json_text_or_null(one.message));
  }
  std::string files;
  for (const std::string& file : judged.policy.files) {
    files += (files.empty() ? "" : ",") + base::json_text(file);
  }
  const bool allowed = policy::permitted(judged.answer.evaluation).has_value();
  return fmt::format(
      R"({{"schema":"cordon.policy/1","allowed":{},"digest":{},"files":[{}],"decisions":[{}]}})"
      "\n",
      base::json_bool(allowed), base::json_text_or_null(judged.policy.digest), files, decisions);
}

}  // namespace cordon::app
