#include "mcp_server.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "mcp/source/client_config.h"
#include "mcp_source_kind.h"
#include "message.h"
#include "policy/builtin_profiles.h"

namespace cordon::app {
namespace {

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

}  // namespace

std::span<const OptionSpec> server_option_specs() { return kServerOptions; }

bool behind_bar(const std::vector<std::string>& arguments, std::size_t operands) {
  return arguments.size() > operands && arguments[arguments.size() - operands - 1] == "--";
}

Result<AskedServer> parse_server_options(std::vector<std::string> arguments,
                                         const MoreOptions& more) {
  const std::vector<std::string> given = arguments;
  ServerAsk ask;
  std::vector<OptionSpec> specs(kServerOptions.begin(), kServerOptions.end());
  specs.insert(specs.end(), more.specs.begin(), more.specs.end());
  const auto take = [&](std::string_view option, const std::string& value) -> Result<void> {
    const bool ours =
        std::ranges::find(kServerOptions, option, &OptionSpec::name) != kServerOptions.end();
    return ours ? ask.take(option, value) : more.take(option, value);
  };
  auto options = parse_run_options(
      std::move(arguments),
      {.specs = specs, .take = take, .name_program = [&] { return ask.from_client(); }});
  if (!options) return std::unexpected(std::move(options.error()));
  AskedServer server{.options = *std::move(options)};
  server.options.tools = ask.tools;
  if (server.options.help) return server;
  ask.command = behind_bar(given, server.options.request.args.size() + 1);
  auto resolved = resolve_server(server.options, ask);
  if (!resolved) return std::unexpected(std::move(resolved.error()));
  server.resolved = *std::move(resolved);
  return server;
}

Result<void> become_server(RunOptions& options) {
  if (options.secrets.redact.value_or(false)) {
    return bad_usage("--redact: a server's messages are passed on as they are");
  }
  if (options.log.transport != Transport::stdio) {
    return bad_usage("--transport: only servers that talk through stdin and stdout can be run");
  }
  options.mcp = true;
  // The rest of what a server gets without asking depends on what the policy says of it.
  const auto workdir = policy::mcp_defaults().workdir;
  if (options.request.cwd.empty() && workdir) options.workdir.wanted = workdir->value;
  return {};
}

int server_failure(const Error& error) {
  if (error.stage == "usage") return usage_error(error.message, "cordon mcp --help");
  complain(error.message);
  return kOwnFailure;
}

Result<std::vector<std::string>> servers_in(const std::string& file) {
  const auto text = read_source(file, kLargestDescription);
  if (!text) return std::unexpected(text.error());
  return mcp::list_client_config(*text, file);
}

}  // namespace cordon::app
