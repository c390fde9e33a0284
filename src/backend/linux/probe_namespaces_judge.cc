#include <cerrno>
#include <string_view>

#include "backend/linux/probe_namespaces.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using plan::Feature;

Feature works() { return {.works = true}; }

Feature no(std::string why, std::string fix) { return {false, std::move(why), std::move(fix)}; }

// What an administrator of the container can do, or "" outside of one.
std::string container_fix(std::string_view kind, std::string_view docker_option) {
  if (kind == "docker" || kind == "podman") {
    return std::string(kind) + " run --security-opt " + std::string(docker_option);
  }
  if (kind == "kubernetes") {
    return docker_option.starts_with("systempaths")
               ? "set procMount: Unmasked in the container's securityContext"
               : "set seccompProfile: type: Unconfined in the container's securityContext, or a "
                 "profile that allows clone and unshare with namespaces";
  }
  if (!kind.empty()) return "allow nested containers in the container's configuration";
  return {};
}

Feature used_up(std::string_view file, const std::optional<std::int64_t>& most) {
  const std::string name(file);
  if (most == 0) {
    return no("user." + name + " is 0: they are switched off", "sysctl -w user." + name + "=15000");
  }
  return no("no more are allowed here (user." + name + ", or namespaces nested too deeply)",
            "sysctl -w user." + name + "=15000, or run less deeply nested");
}

Feature apparmor() {
  return no(
      "AppArmor takes the capabilities inside of user namespaces away "
      "(kernel.apparmor_restrict_unprivileged_userns = 1)",
      "give the command an AppArmor profile with \"userns,\", or sysctl -w "
      "kernel.apparmor_restrict_unprivileged_userns=0");
}

// A namespace of this kind could not be made.
Feature refused(int error, std::string_view file, const std::optional<std::int64_t>& most,
                const NamespaceFacts& facts) {
  if (error == ENOSPC || most == 0) return used_up(file, most);
  if (error == EAGAIN || error == ENOMEM) {
    return no("making one failed: " + base::errno_text(error),
              "end some processes, or raise what limits them: ulimit -u, pids.max of the control "
              "group, memory");
  }
  if (error == EINVAL || error == ENOSYS) {
    return no("this kernel has none", "use a kernel built with namespaces");
  }
  if (facts.unprivileged_userns_clone == 0) {
    return no("kernel.unprivileged_userns_clone is 0: only root may make them",
              "sysctl -w kernel.unprivileged_userns_clone=1");
  }
  if (error == EPERM && !facts.container.empty()) {
    return no("the container's seccomp profile refuses them (" + base::errno_text(error) + ")",
              container_fix(facts.container, "seccomp=unconfined"));
  }
  if (facts.apparmor_restrict == 1) return apparmor();
  return no("making one failed: " + base::errno_text(error),
            "see what refuses it: seccomp, a security module, or a chroot");
}

// The namespaces are there, but nothing can be done in them.
Feature powerless(int error, std::string_view what, const NamespaceFacts& facts) {
  if (facts.apparmor_restrict == 1) return apparmor();
  std::string why = std::string(what) + " failed: " + base::errno_text(error);
  if (error == ENOENT) return no(std::move(why), "mount /proc, which it is done by");
  if (!facts.container.empty()) {
    return no(std::move(why), container_fix(facts.container, "apparmor=unconfined"));
  }
  return no(std::move(why),
            "see what refuses it: seccomp or a security module (AppArmor, SELinux)");
}

Feature proc_refused(int error, const NamespaceFacts& facts) {
  if (!facts.masks_of_proc.empty()) {
    std::string fix = container_fix(facts.container, "systempaths=unconfined");
    if (fix.empty()) fix = "unmount what is mounted there: umount " + facts.masks_of_proc.front();
    return no("parts of /proc are masked here (" + facts.masks_of_proc.front() +
                  "), so the kernel allows no /proc without the masks",
              std::move(fix));
  }
  return powerless(error, "mounting it", facts);
}

}  // namespace

void judge_namespaces(const NamespaceTrial& trial, const NamespaceFacts& facts,
                      plan::HostCapabilities& host) {
  host.user_namespace = works();
  host.mount_namespace = works();
  host.pid_namespace = works();
  host.network_namespace = works();
  host.proc_mount = works();
  if (trial.clone != 0) {
    const auto judge = [&](std::string_view file, const auto& most) {
      return refused(trial.clone, file, most, facts);
    };
    host.user_namespace = judge("max_user_namespaces", facts.max_user_namespaces);
    host.mount_namespace = judge("max_mnt_namespaces", facts.max_mnt_namespaces);
    host.pid_namespace = judge("max_pid_namespaces", facts.max_pid_namespaces);
    host.network_namespace = judge("max_net_namespaces", facts.max_net_namespaces);
    host.proc_mount = no("needs a mount and a pid namespace", "");
    return;
  }
  if (trial.map != 0) {
    const Feature feature = powerless(trial.map, "mapping the caller's ids", facts);
    host.user_namespace = feature;
    host.mount_namespace = feature;
    host.pid_namespace = feature;
    host.network_namespace = feature;
    host.proc_mount = feature;
    return;
  }
  if (trial.mount != 0) {
    host.mount_namespace = powerless(trial.mount, "mounting in it", facts);
    host.proc_mount = no("needs a mount namespace", "");
  }
  if (trial.proc != 0) host.proc_mount = proc_refused(trial.proc, facts);
  if (trial.network != 0) {
    host.network_namespace =
        refused(trial.network, "max_net_namespaces", facts.max_net_namespaces, facts);
  }
}

}  // namespace cordon::linux_backend
