// The options that say where a run is recorded.
#include <array>

#include "option_values.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

Result<void> apply_audit(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no directory");
  options.audit.directory = value;
  return {};
}

Result<void> apply_audit_key(RunOptions& options, const std::string& value) {
  if (value.empty()) return bad_value(value, "names no file");
  options.audit.key_file = value;
  return {};
}

constexpr std::string_view kSection = "Record";

constexpr auto kTable = std::to_array<RunOption>({
    {kSection,
     {"--audit", "DIR",
      "record the run in the audit log in DIR, made if it is\n"
      "not there; without a record nothing is run"},
     apply_audit},
    {kSection,
     {"--audit-key", "FILE", "seal the records with this key: an HMAC, no mere hash"},
     apply_audit_key},
});

}  // namespace

std::span<const RunOption> audit_options() { return kTable; }

}  // namespace cordon::app
