// The options of `cordon run` and `cordon plan`: one table that parsing and --help share, and that
// a test holds the completion scripts to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "command_line.h"
#include "cordon/audit.h"
#include "cordon/error.h"
#include "cordon/request.h"
#include "secret_options.h"
#include "workdir_ask.h"

namespace cordon::app {

enum class Backend : std::uint8_t { automatic, linux_sandbox, gvisor, posix };

// Whether a run goes through the user's pool.
enum class PoolUse : std::uint8_t {
  automatic,  // if there is one, and it can run this
  off,
  only,  // or not at all
};

struct McpVisit;

// Which tools of an MCP server may be called: names and globs.
struct ToolAsk {
  std::vector<std::string> allow{};  // empty: any
  std::vector<std::string> deny{};
};

struct RunOptions {
  Request request;     // without its streams: those depend on where the command runs
  bool image = false;  // request.root is an OCI layout or archive, which has to be unpacked
  std::string image_tag{};
  Backend backend = Backend::automatic;
  PoolUse pool = PoolUse::automatic;
  std::vector<std::string> policies;  // files
  std::string profile;                // empty: none
  std::string manifest;               // empty: none
  std::vector<std::string> require;   // keys of `enforcement`
  SecretOptions secrets;
  WorkDirAsk workdir;
  LogAsk log;
  bool mcp = false;                       // the program is an MCP server: `cordon mcp run`
  ToolAsk tools;                          // … whose
  std::shared_ptr<const McpVisit> visit;  // … and is not for the command's caller: mcp_visit.h
  bool json = false;
  std::string report;     // empty: none
  audit::Settings audit;  // without a directory: no record
  bool help = false;      // then nothing else counts
};

struct RunOption {
  std::string_view section;  // of --help
  OptionSpec spec;
  Result<void> (*apply)(RunOptions& options, const std::string& value);
};
[[nodiscard]] std::span<const RunOption> run_option_table();

// `arguments` is what follows "cordon run" or "cordon plan". Error: invalid_argument, the message
// names the option.
[[nodiscard]] Result<RunOptions> parse_run_options(std::vector<std::string> arguments);
// The same where there are `more` options, whose values come to `take`; without a program, it is to
// be named by what they say. Error: as above, or of `take`.
struct MoreOptions {
  std::span<const OptionSpec> specs{};
  std::function<Result<void>(std::string_view name, const std::string& value)> take{};
  std::function<bool()> name_program{};
};
[[nodiscard]] Result<RunOptions> parse_run_options(std::vector<std::string> arguments,
                                                   const MoreOptions& more);

}  // namespace cordon::app
