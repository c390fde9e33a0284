#include <fmt/format.h>

#include "base/json_text.h"
#include "doctor_report.h"
#include "outcome/enforcement.h"

namespace cordon::app {
namespace {

std::string json(const plan::Feature& feature) {
  return fmt::format(R"({{"works":{},"why":{},"fix":{}}})", base::json_bool(feature.works),
                     base::json_text_or_null(feature.why), base::json_text_or_null(feature.fix));
}

std::string groups(const plan::HostCapabilities& host) {
  std::string_view version = "null";
  if (host.cgroup == plan::CgroupVersion::v1) version = "1";
  if (host.cgroup == plan::CgroupVersion::v2) version = "2";
  return fmt::format(
      R"({{"version":{},"parent":{},"memory":{},"pids":{},"cpu":{},"swap_limited":{}}})", version,
      base::json_text_or_null(host.cgroup_parent), json(host.cgroup_memory), json(host.cgroup_pids),
      json(host.cgroup_cpu), base::json_bool(host.swap_limited));
}

std::string json(const plan::HostCapabilities& host) {
  std::string text =
      fmt::format(R"({{"kernel":{},"container":{},"privileged":{})", base::json_text(host.kernel),
                  base::json_text_or_null(host.container_kind), base::json_bool(host.privileged));
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format(R"(,"{}":{})", name, value);
  };
  add("user_namespace", json(host.user_namespace));
  add("mount_namespace", json(host.mount_namespace));
  add("pid_namespace", json(host.pid_namespace));
  add("network_namespace", json(host.network_namespace));
  add("proc_mount", json(host.proc_mount));
  add("idmapped_mounts", json(host.idmapped_mounts));
  add("landlock", fmt::format(R"({{"abi":{},"why":{}}})",
                              host.landlock_abi > 0 ? fmt::to_string(host.landlock_abi) : "null",
                              base::json_text_or_null(host.landlock_why)));
  add("seccomp", json(host.seccomp));
  add("cgroup", groups(host));
  return text + '}';
}

}  // namespace

std::string doctor_json(const Diagnosis& diagnosis) {
  std::string fixes;
  for (const auto& guarantee : outcome::kGuarantees) {
    const std::string fix = fix_for(guarantee.name, diagnosis);
    if (fix.empty()) continue;
    if (!fixes.empty()) fixes += ',';
    fixes += fmt::format(R"("{}":{})", guarantee.name, base::json_text(fix));
  }
  return fmt::format(
      R"({{"schema":"cordon.doctor/1","ok":{},"backend":{},"why_not_linux":{},"enforcement":{},)"
      R"("fixes":{{{}}},"host":{}}})"
      "\n",
      base::json_bool(all_enforced(diagnosis)), base::json_text(diagnosis.capabilities.backend),
      base::json_text_or_null(diagnosis.why_not_linux),
      outcome::to_json(diagnosis.capabilities.enforcement), fixes, json(diagnosis.host));
}

}  // namespace cordon::app
