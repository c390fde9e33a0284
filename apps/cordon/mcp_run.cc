#include "mcp_run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "command_line.h"
#include "concat.h"
#include "mcp/client_config.h"
#include "mcp_command.h"
#include "message.h"
#include "run_command.h"
#include "run_options.h"

namespace cordon::app {
namespace {

constexpr std::size_t kLargestFile = std::size_t{4} << 20;

constexpr auto kMore = std::to_array<OptionSpec>({
    {"--config", "FILE", "take the server from a client's file"},
    {"--name", "NAME", "the one of this name there"},
});

struct Named {
  std::string file{};
  std::string name{};

  [[nodiscard]] bool given() const { return !file.empty() || !name.empty(); }
};

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

Result<std::string> read_file(const std::string& path) {
  const auto cannot = [&](int error) {
    return base::fail_os("client config", error, concat("reading ", base::printable(path)));
  };
  // Non-blocking: a pipe without a writer must not hold the command up.
  const base::Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found{};
  if (!file || ::fstat(file.get(), &found) != 0) return cannot(errno);
  if (!S_ISREG(found.st_mode)) {
    return base::fail(ErrorCode::invalid_argument, "client config",
                      concat(base::printable(path), " is not a regular file"));
  }
  std::string text;
  std::array<char, 16384> buffer;
  while (text.size() <= kLargestFile) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot(errno);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return base::fail(ErrorCode::invalid_argument, "client config",
                    concat(base::printable(path), " is too large for a client's file"));
}

// The program that the client's file names; what options say goes before what the file does.
Result<void> take_server(RunOptions& options, const Named& named) {
  if (named.file.empty()) return bad_usage("--name needs --config FILE");
  if (named.name.empty()) return bad_usage("--config needs --name NAME");
  if (!options.manifest.empty()) return bad_usage("--config and --manifest: leave one out");
  const auto text = read_file(named.file);
  if (!text) return std::unexpected(text.error());
  auto server = mcp::read_client_config(*text, named.file, named.name);
  if (!server) return std::unexpected(std::move(server.error()));
  Request& request = options.request;
  request.program = std::move(server->command);
  request.args.insert(request.args.begin(), std::make_move_iterator(server->args.begin()),
                      std::make_move_iterator(server->args.end()));
  std::vector<EnvVar> env;
  for (auto& [name, value] : server->env) env.push_back({std::move(name), std::move(value)});
  request.env.insert(request.env.begin(), std::make_move_iterator(env.begin()),
                     std::make_move_iterator(env.end()));
  if (request.cwd.empty() && !options.workdir.wanted) request.cwd = std::move(server->cwd);
  return {};
}

// What a server needs otherwise than a program that comes to its end by itself.
Result<void> become_server(RunOptions& options) {
  if (options.json) return bad_usage("--json: a server's output is its client's");
  if (options.secrets.redact.value_or(false)) {
    return bad_usage("--redact: a server's messages are passed on as they are");
  }
  if (options.log.transport != Transport::stdio) {
    return bad_usage("--transport: only servers that talk through stdin and stdout can be run");
  }
  options.mcp = true;
  if (options.request.timeout == Duration{0}) options.request.timeout = kNoTimeout;
  if (options.request.cwd.empty()) options.workdir.wanted = true;
  return {};
}

}  // namespace

int mcp_run(std::vector<std::string> arguments) {
  Named named;
  auto options = parse_run_options(
      std::move(arguments),
      {.specs = kMore,
       .take = [&](std::string_view option, const std::string& value) -> Result<void> {
         if (value.empty()) return bad_usage("is empty");
         (option == "--config" ? named.file : named.name) = value;
         return {};
       },
       .name_program = [&] { return named.given(); }});
  Result<void> ready;
  if (options && options->help) return print(mcp_help());
  if (options && named.given()) ready = take_server(*options, named);
  if (options && ready) ready = become_server(*options);
  if (!options || !ready) {
    const Error& error = options ? ready.error() : options.error();
    if (error.stage == "usage") return usage_error(error.message, "cordon mcp --help");
    complain(error.message);
    return kOwnFailure;
  }
  return run_asked(*std::move(options));
}

}  // namespace cordon::app
