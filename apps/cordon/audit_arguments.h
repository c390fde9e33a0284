// What the verbs of `cordon audit` share: options before or after the directory, and the directory
// that is meant without one.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command_line.h"
#include "cordon/error.h"

namespace cordon::app {

struct AuditArguments {
  std::vector<CommandLine::Given> options;
  std::string directory;
};

// Error: invalid_argument.
[[nodiscard]] Result<AuditArguments> parse_audit_arguments(std::span<const OptionSpec> specs,
                                                           std::vector<std::string> arguments);

// cordon/audit in $XDG_STATE_HOME; without one /var/log/cordon/audit for root, and in
// ~/.local/state for others. Empty: there is no such place.
[[nodiscard]] std::string default_audit_directory();

}  // namespace cordon::app
