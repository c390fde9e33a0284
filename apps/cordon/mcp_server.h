// The server that a verb of `cordon mcp` is about: named by whatever names one, with the options of
// run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "command_line.h"
#include "cordon/error.h"
#include "mcp_source.h"
#include "run_options.h"

namespace cordon::app {

struct AskedServer {
  RunOptions options{};
  ResolvedServer resolved{};  // lives as long as the server does
};

// The options by which a server is named, besides those of run.
[[nodiscard]] std::span<const OptionSpec> server_option_specs();
// What is run, whichever way the server is named, and how; nothing is resolved when help is asked
// for. Errors: of stage "usage" (invalid_argument), or those of reading what names the server.
[[nodiscard]] Result<AskedServer> parse_server_options(std::vector<std::string> arguments,
                                                       const MoreOptions& more = {});
// What a server needs otherwise than a program that comes to its end by itself. Error: usage.
[[nodiscard]] Result<void> become_server(RunOptions& options);
// Says what is wrong; the exit status.
[[nodiscard]] int server_failure(const Error& error);
// Whether the operands came behind "--": a command, whatever it looks like.
[[nodiscard]] bool behind_bar(const std::vector<std::string>& arguments, std::size_t operands);
// The servers of a client's file. Error: it cannot be read, or is none.
[[nodiscard]] Result<std::vector<std::string>> servers_in(const std::string& file);

}  // namespace cordon::app
