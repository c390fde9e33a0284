// The command lines of `cordon sandbox`: options of `cordon run` that mean something there, and
// some more. Options may stand before and after NAME, up to PROGRAM.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "run_options.h"

namespace cordon::app::sandbox {

struct Line {
  RunOptions run{};  // program and arguments included
  std::string name{};
  std::vector<std::string> operands{};  // after NAME, where they are no program
  std::string backend = "linux";
  bool tty = false;
  bool detach = false;
  bool follow = false;
  bool leave_running = false;
  bool quiet = false;
  bool json = false;
  bool help = false;  // then nothing else counts
  bool grace_given = false;
};

// An option of run that is none of the verb, and why.
struct Refused {
  std::string_view option;
  std::string_view why;
};

// What a verb takes.
struct Grammar {
  std::vector<std::string_view> run_options;  // names of options of run
  std::vector<std::string_view> own;          // names in own_options()
  std::vector<Refused> refused{};             // told why, instead of not being known
  bool name = true;
  bool program = false;      // ends in a program and its arguments
  std::size_t operands = 0;  // else: how many more at most
};

[[nodiscard]] std::span<const OptionSpec> own_options();

// Error: invalid_argument.
[[nodiscard]] Result<Line> parse_line(const Grammar& grammar, std::vector<std::string> arguments);

// Those of run that `create` and `exec` take.
[[nodiscard]] Grammar create_grammar();
[[nodiscard]] Grammar exec_grammar();

}  // namespace cordon::app::sandbox
