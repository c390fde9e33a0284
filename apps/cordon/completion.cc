#include "completion.h"

#include <unistd.h>

#include <string_view>

#include "completion_scripts.h"  // made from completions/ by CMake
#include "concat.h"
#include "message.h"
#include "write_all.h"

namespace cordon::app {

int completion_command(std::span<const std::string> arguments) {
  constexpr std::string_view kHelp = "cordon --help";
  if (arguments.size() != 1) {
    return usage_error("completion takes one shell: bash, zsh or fish", kHelp);
  }
  const std::string& shell = arguments.front();
  std::string_view script;
  if (shell == "bash") script = kBashCompletion;
  if (shell == "zsh") script = kZshCompletion;
  if (shell == "fish") script = kFishCompletion;
  if (script.empty()) {
    return usage_error(concat("no completion for '", shell, "': there are bash, zsh and fish"),
                       kHelp);
  }
  return print(script);
}

}  // namespace cordon::app
