// From arguments to options and operands. The only file that knows the command-line library.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::app {

struct OptionSpec {
  std::string_view name;   // "--timeout"
  std::string_view value;  // what --help calls its value, e.g. "DUR"; empty: the option takes none
  std::string_view text;   // for --help; may have several lines
};

struct CommandLine {
  struct Given {
    std::size_t option;  // index into the specs
    std::string value;
  };
  // In the order given: of a repeated option the last one counts.
  std::vector<Given> options;
  std::vector<std::string> operands;
};

// Options end at "--" or at the first argument that is none: all the rest are operands, whatever
// they look like. Error: invalid_argument (unknown option, missing value).
[[nodiscard]] Result<CommandLine> parse_command_line(std::span<const OptionSpec> specs,
                                                     std::vector<std::string> arguments);

}  // namespace cordon::app
