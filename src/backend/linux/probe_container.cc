#include "backend/linux/probe_container.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "backend/linux/probe_files.h"

namespace cordon::linux_backend {
namespace {

// The value of `name` among entries that end with NUL.
std::string value_of(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const std::string_view entry = environment.substr(0, environment.find('\0'));
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) {
      return std::string(entry.substr(name.size() + 1));
    }
    environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
  }
  return {};
}

}  // namespace

ContainerTraces find_container_traces() {
  return {
      .dockerenv = ::access("/.dockerenv", F_OK) == 0,
      .containerenv = ::access("/run/.containerenv", F_OK) == 0,
      .kubernetes = std::getenv("KUBERNETES_SERVICE_HOST") != nullptr,
      .init_container = value_of(read_small_file("/proc/1/environ").value_or(""), "container"),
      .cgroups = read_small_file("/proc/self/cgroup").value_or(""),
  };
}

std::string container_kind(const ContainerTraces& traces) {
  const auto in_cgroups = [&](std::string_view part) {
    return traces.cgroups.find(part) != std::string::npos;
  };
  // The most telling first: Kubernetes runs its pods by runtimes that leave traces of their own.
  if (traces.kubernetes || in_cgroups("/kubepods")) return "kubernetes";
  if (traces.containerenv || traces.init_container == "podman" || in_cgroups("/libpod-")) {
    return "podman";
  }
  if (traces.dockerenv || traces.init_container == "docker" || in_cgroups("/docker/") ||
      in_cgroups("/docker-")) {
    return "docker";
  }
  if (traces.init_container.starts_with("lxc") || in_cgroups("/lxc")) return "lxc";
  if (!traces.init_container.empty()) return "unknown";
  return {};
}

}  // namespace cordon::linux_backend
