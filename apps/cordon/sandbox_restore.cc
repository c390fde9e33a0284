#include <filesystem>
#include <system_error>
#include <utility>

#include "concat.h"
#include "message.h"
#include "option_values.h"
#include "sandbox_command.h"
#include "sandbox_image.h"
#include "sandbox_options.h"
#include "sandbox_start.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {

int restore_verb(std::vector<std::string> arguments) {
  const Grammar grammar{.run_options = {"--audit", "--audit-key"},
                        .own = {"--quiet", "--json", "--help"},
                        .operands = 1};
  auto line = parse_line(grammar, std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  if (line->operands.empty())
    return usage_error("restore needs an image's directory", kSandboxHelp);
  auto image = parse_path(line->operands.front());
  if (!image) return usage_error(image.error().message, kSandboxHelp);
  auto asked = read_image_request(*image);
  if (!asked) {
    complain(asked.error().message);
    return kOwnFailure;
  }
  if (asked->name != line->name) {
    complain(concat(*image, " is an image of '", asked->name, "', not of '", line->name,
                    "': restore it under that name"));
    return kOwnFailure;
  }
  line->backend = asked->backend;
  line->run.request = request_of(std::move(asked->main));
  line->run.policies = std::move(asked->policies);
  line->run.profile = std::move(asked->profile);
  return start({.line = *std::move(line),
                .image = *std::move(image),
                .replaces = {SandboxState::stopped, SandboxState::checkpointed}});
}

}  // namespace cordon::app::sandbox
