// Manager: makes processes and knows the ones it made.
//
// The seam between code that manages processes and the processes themselves: write your code
// against Manager, run it on `os_manager()`, test it on `memory::Manager` (memory.h). All methods
// are thread-safe. Destroying a Manager kills and reaps every process it still runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/limits.h"
#include "cordon/outcome.h"
#include "cordon/plan.h"
#include "cordon/process.h"
#include "cordon/request.h"

namespace cordon {

// What a backend can and cannot guarantee on this host.
struct Capabilities {
  std::string backend;            // "linux", "gvisor", "posix", "memory"
  Enforcement enforcement;        // for a request that asks for every limit
  std::vector<std::string> gaps;  // what this backend does not guarantee, one sentence each
};

class Manager {
 public:
  virtual ~Manager() = default;
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  // A process that has not been started. Errors: invalid_argument, unsupported; the message names
  // the field.
  [[nodiscard]] virtual Result<std::shared_ptr<Process>> create(Request request) = 0;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(std::string program,
                                                        std::vector<std::string> args);

  // What create() and start() would do for this request, and what would hold. Runs nothing; errors
  // as of create().
  [[nodiscard]] virtual Result<Plan> plan(const Request& request) const = 0;

  // A process that runs, or that somebody still holds. Error: not_found.
  [[nodiscard]] virtual Result<std::shared_ptr<Process>> get(ProcessId id) const = 0;
  // All of those, by id.
  [[nodiscard]] virtual std::vector<std::shared_ptr<Process>> list() const = 0;

  // Used by create() for every limit a request leaves open. Error: invalid_argument.
  [[nodiscard]] virtual Result<void> set_default_limits(const Limits& limits) = 0;
  [[nodiscard]] virtual Limits default_limits() const = 0;

  [[nodiscard]] virtual Capabilities capabilities() const = 0;
  [[nodiscard]] virtual Clock& clock() = 0;

 protected:
  Manager() = default;
};

// Real processes by the backend of this OS that isolates (C133). Error: unsupported, where it
// cannot; there is no silent way down to a weaker one.
[[nodiscard]] Result<std::unique_ptr<Manager>> os_manager();
// Real processes in namespaces, control groups, Landlock and seccomp (Linux). Error: unsupported,
// where the host cannot isolate; the message says why and what to do.
[[nodiscard]] Result<std::unique_ptr<Manager>> linux_manager();
// Real processes on gVisor's kernel (runsc), in control groups of ours. Error: unsupported, where
// there is no runsc; the message says how to install it.
[[nodiscard]] Result<std::unique_ptr<Manager>> gvisor_manager();
// Real processes with process groups and rlimits: the floor on every Unix.
[[nodiscard]] Result<std::unique_ptr<Manager>> posix_manager();

}  // namespace cordon
