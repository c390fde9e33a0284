#include <utility>

#include "message.h"
#include "sandbox_command.h"
#include "sandbox_options.h"
#include "sandbox_start.h"
#include "sandbox_verbs.h"

namespace cordon::app::sandbox {

int create_verb(std::vector<std::string> arguments) {
  auto line = parse_line(create_grammar(), std::move(arguments));
  if (!line) return usage_error(line.error().message, kSandboxHelp);
  if (line->help) return print(sandbox_help());
  return start({.line = *std::move(line)});
}

}  // namespace cordon::app::sandbox
