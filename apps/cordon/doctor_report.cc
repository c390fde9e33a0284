#include "doctor_report.h"

#include <algorithm>
#include <vector>

#include "outcome/enforcement.h"

namespace cordon::app {
namespace {

// What a guarantee rests on.
std::vector<const plan::Feature*> features_of(std::string_view guarantee,
                                              const plan::HostCapabilities& host) {
  if (guarantee == "memory") return {&host.cgroup_memory};
  if (guarantee == "cpu") return {&host.cgroup_cpu};
  if (guarantee == "processes") return {&host.cgroup_pids};
  if (guarantee == "filesystem") {
    return {&host.user_namespace, &host.mount_namespace, &host.proc_mount};
  }
  if (guarantee == "network") return {&host.user_namespace, &host.network_namespace};
  if (guarantee == "syscalls") return {&host.seccomp};
  if (guarantee == "capabilities") return {&host.user_namespace};
  return {&host.user_namespace, &host.pid_namespace};  // timeout: all descendants are killed
}

// Reasons end with what to do about them: "…: Permission denied; give the user write access".
std::string action_in(std::string_view reason) {
  const auto at = reason.rfind("; ");
  return at == std::string_view::npos ? std::string() : std::string(reason.substr(at + 2));
}

}  // namespace

bool all_enforced(const Diagnosis& diagnosis) {
  return std::ranges::all_of(outcome::kGuarantees, [&](const auto& guarantee) {
    return (diagnosis.capabilities.enforcement.*guarantee.member).level ==
           Guarantee::Level::enforced;
  });
}

std::string fix_for(std::string_view guarantee, const Diagnosis& diagnosis) {
  for (const auto& [name, member] : outcome::kGuarantees) {
    if (name != guarantee) continue;
    if ((diagnosis.capabilities.enforcement.*member).level == Guarantee::Level::enforced) return {};
  }
  for (const plan::Feature* const feature : features_of(guarantee, diagnosis.host)) {
    if (feature->works) continue;
    std::string fix = feature->fix.empty() ? action_in(feature->why) : feature->fix;
    if (!fix.empty()) return fix;
  }
  return action_in(diagnosis.why_not_linux);
}

}  // namespace cordon::app
