#include <fmt/format.h>

#include "doctor_report.h"
#include "marks.h"
#include "outcome/enforcement.h"
#include "plan_text.h"

namespace cordon::app {
namespace {

constexpr std::size_t kWidth = 20;

std::string fact(std::string_view name, std::string_view text) {
  return fmt::format("  {:<{}}{}\n", name, kWidth, text);
}

std::string fact(std::string_view name, const plan::Feature& feature) {
  if (feature.works) return fact(name, "works");
  std::string lines = fact(name, "does not work: " + feature.why);
  if (!feature.fix.empty()) lines += fact("", "fix: " + feature.fix);
  return lines;
}

std::string groups(const plan::HostCapabilities& host) {
  if (host.cgroup == plan::CgroupVersion::none) {
    return fact("control groups", "none: " + host.cgroup_memory.why);
  }
  const std::string_view version = host.cgroup == plan::CgroupVersion::v1 ? "v1" : "v2";
  std::string lines = fact("control groups", fmt::format("{}, in {}", version, host.cgroup_parent));
  lines += fact("  memory", host.cgroup_memory);
  lines += fact("  pids", host.cgroup_pids);
  lines += fact("  cpu", host.cgroup_cpu);
  lines += fact("  swap", host.swap_limited ? "limited with the memory" : "not limited");
  return lines;
}

}  // namespace

std::string doctor_text(const Diagnosis& diagnosis, bool colours) {
  const auto& [capabilities, why_not_linux, host] = diagnosis;
  std::string text = bold("backend " + capabilities.backend, colours) + '\n';
  if (!why_not_linux.empty()) text += fmt::format("  not linux: {}\n", why_not_linux);

  text += fmt::format("\n{}\n", bold("guarantees", colours));
  for (const auto& [name, member] : outcome::kGuarantees) {
    text += guarantee_line(name, capabilities.enforcement.*member, colours);
    if (const std::string fix = fix_for(name, diagnosis); !fix.empty()) {
      text += fmt::format("      fix: {}\n", fix);
    }
  }

  text += fmt::format("\n{}\n", bold("host", colours));
  text += fact("kernel", host.kernel);
  text += fact("container", host.container ? host.container_kind : "no");
  text += fact("caller", host.privileged ? "privileged: may map any id" : "ordinary");
  text += fact("user namespace", host.user_namespace);
  text += fact("mount namespace", host.mount_namespace);
  text += fact("pid namespace", host.pid_namespace);
  text += fact("network namespace", host.network_namespace);
  text += fact("/proc of its own", host.proc_mount);
  text += fact("idmapped mounts", host.idmapped_mounts);
  text += fact("Landlock", host.landlock_abi > 0 ? fmt::format("ABI {}", host.landlock_abi)
                                                 : "none: " + host.landlock_why);
  text += fact("seccomp", host.seccomp);
  text += groups(host);
  return text;
}

}  // namespace cordon::app
