#include <array>

#include "audit/verify.h"
#include "audit_arguments.h"
#include "audit_command.h"
#include "audit_verbs.h"
#include "base/printable.h"
#include "concat.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr int kSomethingIsWrong = 1;

std::string counted(std::uint64_t count, const char* one, const char* many) {
  return concat(std::to_string(count), " ", count == 1 ? one : many);
}

std::string report(const audit::Verification& result) {
  std::string text;
  for (const audit::Defect& defect : result.defects) {
    const std::string line = defect.line == 0 ? "" : concat(":", std::to_string(defect.line));
    text += concat(base::printable(defect.file), line, ": ", base::printable(defect.what), "\n");
  }
  if (result.defect_count > result.defects.size()) text += "…\n";
  text += concat(counted(result.records, "record", "records"), " in ",
                 counted(result.files, "file", "files"), ": ",
                 result.defect_count == 0 ? std::string("nothing is wrong")
                                          : counted(result.defect_count, "defect", "defects"),
                 "\n");
  if (result.unfinished > 0) {
    text += concat(counted(result.unfinished, "byte", "bytes"),
                   " at the end are of a record that was never finished; the next writer moves "
                   "them away\n");
  }
  if (result.defect_count == 0) {
    text += concat("head: ", std::to_string(result.head.sequence), " ", result.head.hash, "\n");
  }
  return text;
}

}  // namespace

int audit_verify(std::vector<std::string> arguments) {
  constexpr auto kOptions = std::to_array<OptionSpec>({{"--key", "FILE", ""}, {"--help", "", ""}});
  const auto given = parse_audit_arguments(kOptions, std::move(arguments));
  if (!given) return usage_error(given.error().message, kAuditHelp);
  std::string key;
  for (const auto& [option, value] : given->options) {
    if (option == 1) return print(audit_help());
    if (value.empty()) return usage_error("--key: \"\" names no file", kAuditHelp);
    key = value;
  }
  const auto sealer = audit::Sealer::from_file(key);
  const auto result =
      sealer ? audit::verify(given->directory, *sealer) : std::unexpected(sealer.error());
  if (!result) {
    complain(result.error().message);
    return kOwnFailure;
  }
  if (const int printed = print(report(*result)); printed != 0) return printed;
  return result->defect_count == 0 ? 0 : kSomethingIsWrong;
}

}  // namespace cordon::app
