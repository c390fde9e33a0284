// What `cordon mcp serve` is asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "command_line.h"
#include "cordon/clock.h"
#include "cordon/error.h"
#include "mcp/http/front.h"
#include "mcp_source.h"
#include "run_options.h"

namespace cordon::app {

struct ServedProgram {
  std::string name;    // /NAME/mcp
  RunOptions options;  // as those of `cordon mcp run`
  ResolvedServer resolved;
};

struct ServeOptions {
  bool help = false;  // then nothing else counts
  bool json = false;  // where it serves is said on stdout, too
  std::vector<ServedProgram> servers;
  mcp::HttpOptions http;   // without the token
  std::string token_file;  // empty: none
  Duration idle{0};        // 0: the usual
  Duration poll{0};        // 0: streams stay
  std::size_t max_sessions = 0;
  std::size_t spare = 0;
  bool shared = false;
};

[[nodiscard]] std::span<const OptionSpec> serve_option_specs();
[[nodiscard]] std::string serve_help();

// `arguments` is what follows "cordon mcp serve". Errors: invalid_argument of stage "usage", or of
// reading a client's file.
[[nodiscard]] Result<ServeOptions> parse_serve_options(std::vector<std::string> arguments);

// What is in the file, without the end of its line. Errors: it cannot be read, others can, or it is
// too easy to guess.
[[nodiscard]] Result<std::string> read_token(const std::string& file);

}  // namespace cordon::app
