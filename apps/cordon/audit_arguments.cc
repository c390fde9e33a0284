#include "audit_arguments.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "concat.h"

namespace cordon::app {
namespace {

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

// An absolute path, as the XDG specification wants it; or else nothing.
std::string path_from(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string default_audit_directory() {
  if (const std::string state = path_from("XDG_STATE_HOME"); !state.empty()) {
    return state + "/cordon/audit";
  }
  if (::geteuid() == 0) return "/var/log/cordon/audit";
  const std::string home = path_from("HOME");
  return home.empty() ? "" : home + "/.local/state/cordon/audit";
}

Result<AuditArguments> parse_audit_arguments(std::span<const OptionSpec> specs,
                                             std::vector<std::string> arguments) {
  AuditArguments all;
  // Options end at the first operand; here they may follow it, too.
  while (!arguments.empty()) {
    auto line = parse_command_line(specs, std::move(arguments));
    if (!line) return std::unexpected(std::move(line).error());
    std::ranges::move(line->options, std::back_inserter(all.options));
    arguments = std::move(line->operands);
    if (arguments.empty()) break;
    if (!all.directory.empty()) {
      return bad_usage(concat("more than one directory: '", arguments.front(), "'"));
    }
    if (arguments.front().empty()) return bad_usage("'' names no directory");
    all.directory = std::move(arguments.front());
    arguments.erase(arguments.begin());
  }
  if (all.directory.empty()) all.directory = default_audit_directory();
  if (all.directory.empty()) return bad_usage("no directory given, and HOME is not set");
  return all;
}

}  // namespace cordon::app
