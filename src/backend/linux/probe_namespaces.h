// Namespaces: which work for this caller, and if not, what keeps them from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/linux/probe.h"
#include "backend/linux/probe_trial.h"
#include "plan/host.h"

namespace cordon::linux_backend {

// Why something may have failed; read only when it has.
struct NamespaceFacts {
  std::optional<std::int64_t> max_user_namespaces{};  // /proc/sys/user/…
  std::optional<std::int64_t> max_mnt_namespaces{};
  std::optional<std::int64_t> max_pid_namespaces{};
  std::optional<std::int64_t> max_net_namespaces{};
  std::optional<std::int64_t> unprivileged_userns_clone{};  // Debian's switch
  std::optional<std::int64_t> apparmor_restrict{};          // Ubuntu's
  std::string container{};                                  // as container_kind()
  std::vector<std::string> masks_of_proc{};                 // what is mounted below /proc
};

// What a trial with all of them says. Pure.
void judge_namespaces(const NamespaceTrial& trial, const NamespaceFacts& facts,
                      plan::HostCapabilities& host);

// Tries, and fills in the four namespaces and proc_mount. Reads host.privileged and
// host.container_kind.
void probe_namespaces(ProbeDepth depth, const std::optional<std::string>& mountinfo,
                      plan::HostCapabilities& host);

}  // namespace cordon::linux_backend
