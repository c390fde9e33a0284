#include "make_manager.h"

#include <utility>

namespace cordon::app {
namespace {

Result<std::unique_ptr<Manager>> choose(Backend backend) {
  switch (backend) {
    case Backend::automatic:
      return os_manager();
    case Backend::linux_sandbox:
      return linux_manager();
    case Backend::gvisor:
      return gvisor_manager();
    case Backend::posix:
      return posix_manager();
  }
  return os_manager();
}

// As run_options_limits.cc tells them. The posix backend cannot keep them for a whole tree of
// processes, so there they would only be in the way.
constexpr Limits kDefaults = {
    .cpu_millicores = 1000,
    .memory_bytes = std::uint64_t{512} * 1024 * 1024,
    .open_files = 1024,
    .processes = 128,
};

}  // namespace

std::string_view backend_name(Backend backend) {
  switch (backend) {
    case Backend::posix:
      return "posix";
    case Backend::gvisor:
      return "gvisor";
    case Backend::automatic:
    case Backend::linux_sandbox:
      break;
  }
  return "linux";
}

Backend backend_named(std::string_view name) {
  return name == "gvisor" ? Backend::gvisor : Backend::linux_sandbox;
}

Limits usual_limits(Backend backend) { return backend == Backend::posix ? Limits{} : kDefaults; }

Result<std::unique_ptr<Manager>> make_manager(Backend backend) {
  auto manager = choose(backend);
  if (!manager || (*manager)->capabilities().backend == "posix") return manager;
  if (auto set = (*manager)->set_default_limits(kDefaults); !set) {
    return std::unexpected(std::move(set).error());
  }
  return manager;
}

}  // namespace cordon::app
