// Whether this process is in a container, and in which kind.
#pragma once

#include <string>

#include "plan/host.h"

namespace cordon::linux_backend {

// The traces that containers leave.
struct ContainerTraces {
  bool dockerenv = false;        // /.dockerenv
  bool containerenv = false;     // /run/.containerenv
  bool kubernetes = false;       // KUBERNETES_SERVICE_HOST is set
  std::string init_container{};  // "container" in the environment of pid 1, where it can be read
  std::string cgroups{};         // /proc/self/cgroup
};
[[nodiscard]] ContainerTraces find_container_traces();

// "docker", "podman", "kubernetes", "lxc", "unknown"; empty: in none. Pure.
[[nodiscard]] std::string container_kind(const ContainerTraces& traces);

}  // namespace cordon::linux_backend
