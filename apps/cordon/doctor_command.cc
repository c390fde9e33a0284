#include "doctor_command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backend/linux/probe.h"
#include "command_line.h"
#include "concat.h"
#include "cordon/manager.h"
#include "doctor_report.h"
#include "help.h"
#include "marks.h"
#include "message.h"

namespace cordon::app {
namespace {

constexpr const char* kHelp = "cordon doctor --help";
constexpr int kSomethingIsMissing = 1;

Result<Diagnosis> diagnose() {
  Diagnosis diagnosis;
  auto manager = linux_manager();
  if (!manager) {
    diagnosis.why_not_linux = manager.error().message;
    manager = posix_manager();  // what `--backend posix` would do
    if (!manager) return std::unexpected(std::move(manager).error());
  }
  diagnosis.capabilities = (*manager)->capabilities();
  diagnosis.host = linux_backend::probe_host("", linux_backend::ProbeDepth::thorough);
  return diagnosis;
}

}  // namespace

int doctor_command(std::vector<std::string> arguments) {
  constexpr auto kOptions = std::to_array<OptionSpec>({
      {"--json", "", ""},
      {"--help", "", ""},
  });
  const auto line = parse_command_line(kOptions, std::move(arguments));
  if (!line) return usage_error(line.error().message, kHelp);
  const auto given = [&](std::size_t option) {
    return std::ranges::any_of(line->options,
                               [&](const auto& one) { return one.option == option; });
  };
  if (given(1)) return print(doctor_help());
  if (!line->operands.empty()) {
    return usage_error(concat("doctor takes no '", line->operands.front(), "'"), kHelp);
  }

  const auto diagnosis = diagnose();
  if (!diagnosis) {
    complain(diagnosis.error().message);
    return kOwnFailure;
  }
  const int printed = print(given(0) ? doctor_json(*diagnosis)
                                     : doctor_text(*diagnosis, use_colours(STDOUT_FILENO)));
  if (printed != 0) return printed;
  return all_enforced(*diagnosis) ? 0 : kSomethingIsMissing;
}

}  // namespace cordon::app
