#include "mcp_source.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "backend/posix/lookup.h"
#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "execution/policy_files.h"
#include "mcp/source/client_config.h"
#include "mcp/source/server_json.h"
#include "mcp/source/srt_policy.h"
#include "mcp_source_bundle.h"
#include "mcp_source_kind.h"
#include "mcp_source_npx.h"
#include "mcp_source_reach.h"

namespace cordon::app {
namespace {

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

template <typename Item>
void put_first(std::vector<Item>& all, std::vector<Item> items) {
  all.insert(all.begin(), std::make_move_iterator(items.begin()),
             std::make_move_iterator(items.end()));
}

// What options say counts more than what a file does.
void add_env(Request& request, std::vector<std::pair<std::string, std::string>> variables) {
  std::vector<EnvVar> env;
  env.reserve(variables.size());
  for (auto& [name, value] : variables) env.push_back({std::move(name), std::move(value)});
  put_first(request.env, std::move(env));
}

// The program that the client's file names.
Result<void> take_client_entry(RunOptions& options, const ServerAsk& ask) {
  if (ask.config.empty()) return bad_usage("--name needs --config FILE");
  if (ask.name.empty()) return bad_usage("--config needs --name NAME");
  if (!options.manifest.empty()) return bad_usage("--config and --manifest: leave one out");
  const auto text = read_source(ask.config, kLargestDescription);
  if (!text) return std::unexpected(text.error());
  auto server = mcp::read_client_config(*text, ask.config, ask.name);
  if (!server) return std::unexpected(std::move(server.error()));
  Request& request = options.request;
  request.program = std::move(server->command);
  put_first(request.args, std::move(server->args));
  add_env(request, std::move(server->env));
  if (request.cwd.empty() && !options.workdir.wanted) request.cwd = std::move(server->cwd);
  return {};
}

void rename_secrets(RunOptions& options, const mcp::Launch& launch) {
  std::vector<SecretAsk> renamed;
  for (const auto& [variable, secret] : launch.secrets) {
    const auto found = std::ranges::find(options.secrets.asks, secret, &SecretAsk::name);
    if (found == options.secrets.asks.end() || variable == secret) continue;
    renamed.push_back(*found);
    renamed.back().name = variable;
  }
  std::erase_if(options.secrets.asks, [&](const SecretAsk& ask) {
    return std::ranges::any_of(launch.secrets, [&](const mcp::SecretVariable& each) {
      return each.secret == ask.name && each.variable != ask.name;
    });
  });
  options.secrets.asks.insert(options.secrets.asks.end(), renamed.begin(), renamed.end());
}

void take_launch(RunOptions& options, mcp::Launch launch) {
  Request& request = options.request;
  rename_secrets(options, launch);
  request.program = std::move(launch.command);
  put_first(request.args, std::move(launch.args));
  add_env(request, std::move(launch.env));
  for (std::string& path : launch.paths) {
    const bool granted = std::ranges::any_of(
        request.grants, [&](const Grant& grant) { return grant.source == path; });
    if (!granted) request.grants.push_back(Grant::read(std::move(path)));
  }
}

mcp::Given given_to(const RunOptions& options, const ServerAsk& ask) {
  mcp::Given given = ask.given;
  for (const SecretAsk& secret : options.secrets.asks) given.secrets.insert(secret.name);
  return given;
}

Result<void> take_bundle(RunOptions& options, const OpenBundle& bundle, const mcp::Given& given,
                         const std::string& called) {
  auto launch = launch_of(bundle, given, called);
  if (!launch) return std::unexpected(std::move(launch.error()));
  options.request.grants.push_back(Grant::read(bundle.directory));
  take_launch(options, *std::move(launch));
  return {};
}

// After a run in a pool the command ends without looking back, and nobody would clean up.
Result<void> leave_pool(RunOptions& options) {
  if (options.pool == PoolUse::only) {
    return bad_usage("--pool only: a bundle is unpacked for this run alone");
  }
  options.pool = PoolUse::off;
  return {};
}

Result<ResolvedServer> take_archive(RunOptions& options, const std::string& file,
                                    std::string_view sha256, const mcp::Given& given) {
  if (auto left = leave_pool(options); !left) return std::unexpected(std::move(left.error()));
  auto bundle = open_archive(file, sha256, options.workdir.cache);
  if (!bundle) return std::unexpected(std::move(bundle.error()));
  if (auto taken = take_bundle(options, *bundle, given, file); !taken) {
    return std::unexpected(std::move(taken.error()));
  }
  return ResolvedServer{.unpacked = std::move(bundle->unpacked)};
}

// A bundle is not fetched: it has to be beside the file, under the name that it has where it was
// published.
Result<ResolvedServer> take_published_bundle(RunOptions& options, const std::string& file,
                                             const mcp::Package& package, mcp::Given given) {
  const std::string name = package.identifier.substr(package.identifier.rfind('/') + 1);
  const std::size_t slash = file.rfind('/');
  const std::string bundle =
      concat(slash == std::string::npos ? "" : file.substr(0, slash + 1), name);
  const auto fail = [&](std::string_view what) {
    return base::fail(ErrorCode::invalid_argument, "server.json",
                      concat(base::printable(file), ": ", package.place, " ", what));
  };
  if (package.sha256.empty()) return fail("has no fileSha256, so that nothing can be told of it");
  if (name.empty() || name == "." || name == "..") return fail("names no file by its identifier");
  mcp::Given own{.secrets = given.secrets};
  for (const mcp::Setting& setting : package.settings) {
    if (auto found = given.values.extract(setting.name)) own.values.insert(std::move(found));
  }
  auto around = mcp::launch_package(package, own, file);
  if (!around) return std::unexpected(std::move(around.error()));
  put_first(options.request.args, std::move(around->args));
  auto taken = take_archive(options, bundle, package.sha256, given);
  if (!taken && taken.error().os_error == ENOENT) {
    taken.error().message += concat(": fetch it from ", base::printable(package.identifier),
                                    " and put it beside ", base::printable(file));
  }
  if (!taken) return taken;
  add_env(options.request, std::move(around->env));
  return taken;
}

Result<ResolvedServer> take_registry(RunOptions& options, const ServerAsk& ask,
                                     const std::string& file) {
  const auto text = read_source(file, kLargestDescription);
  if (!text) return std::unexpected(text.error());
  const auto server = mcp::read_server_json(*text, file);
  if (!server) return std::unexpected(server.error());
  const auto package = mcp::choose_package(*server, ask.package, file);
  if (!package) return std::unexpected(package.error());
  const mcp::Given given = given_to(options, ask);
  if (package->type == mcp::Package::Type::mcpb) {
    return take_published_bundle(options, file, *package, given);
  }
  auto launch = mcp::launch_package(*package, given, file);
  if (!launch) return std::unexpected(std::move(launch.error()));
  take_launch(options, *std::move(launch));
  return ResolvedServer{};
}

// Its settings, as grants. It has no word on the network that could be kept but none.
Result<void> take_srt(RunOptions& options, const ServerAsk& ask) {
  if (ask.srt.empty()) return {};
  const auto text = read_source(ask.srt, kLargestDescription);
  if (!text) return std::unexpected(text.error());
  const char* const home = std::getenv("HOME");
  auto grants = mcp::read_srt_policy(*text, ask.srt, home == nullptr ? "" : home);
  if (!grants) return std::unexpected(std::move(grants.error()));
  if (options.request.network != Network::none) {
    return bad_usage("--srt and --net: these settings allow no network; leave one out");
  }
  auto& all = options.request.grants;
  all.insert(all.end(), grants->begin(), grants->end());
  return {};
}

Result<void> check_fits(const ServerAsk& ask, SourceKind::Kind kind) {
  using Kind = SourceKind::Kind;
  const bool settings = kind == Kind::archive || kind == Kind::bundle || kind == Kind::registry;
  if (!ask.given.values.empty() && !settings) {
    return bad_usage(concat("--set ", base::printable(ask.given.values.begin()->first),
                            ": only bundles and server.json have settings; a command gets "
                            "arguments, --env and --secret"));
  }
  if (!ask.package.empty() && kind != Kind::registry) {
    return bad_usage("--package is for a server.json, which has packages");
  }
  return {};
}

Result<ResolvedServer> take_source(RunOptions& options, const ServerAsk& ask) {
  using Kind = SourceKind::Kind;
  SourceKind source;
  if (!ask.command && !ask.from_client() && options.manifest.empty()) {
    auto recognised = recognise_source(options.request.program);
    if (!recognised) return std::unexpected(std::move(recognised.error()));
    source = *std::move(recognised);
  }
  if (auto fits = check_fits(ask, source.kind); !fits) return std::unexpected(fits.error());
  Result<void> taken;
  switch (source.kind) {
    case Kind::archive:
      return take_archive(options, source.file, "", given_to(options, ask));
    case Kind::registry:
      return take_registry(options, ask, source.file);
    case Kind::bundle: {
      auto bundle = open_folder(source.file);
      if (!bundle) return std::unexpected(std::move(bundle.error()));
      taken = take_bundle(options, *bundle, given_to(options, ask), source.file);
      break;
    }
    case Kind::manifest:
      options.manifest = source.file;
      options.request.program.clear();
      break;
    case Kind::command:
      if (ask.from_client()) taken = take_client_entry(options, ask);
      break;
  }
  if (!taken) return std::unexpected(std::move(taken.error()));
  return ResolvedServer{};
}

// What a manifest names by a name alone is looked up like any command.
Result<void> grant_manifest_runtime(RunOptions& options) {
  if (options.backend == Backend::posix) return {};
  const auto manifest = execution::load_manifest(options.manifest);
  if (!manifest) return std::unexpected(manifest.error());
  const std::string& command = manifest->manifest.command.value;
  if (command.contains('/')) return {};
  options.request.program = command;
  grant_runtime(options.request);
  const std::string start = std::exchange(options.request.program, {});
  const std::size_t slash = start.rfind('/');
  if (slash != std::string::npos && start.substr(slash + 1) == command) {
    // Where the link in PATH leads, which is not there inside.
    const auto environment = posix::environment_for(options.request);
    options.request.env.push_back(
        {.name = "PATH",
         .value = concat(start.substr(0, slash), ":", posix::path_of(environment))});
  }
  options.request.argv0.clear();
  return {};
}

}  // namespace

Result<void> ServerAsk::take(std::string_view option, const std::string& value) {
  if (value.empty()) return bad_usage("is empty");
  if (option == "--config") {
    config = value;
  } else if (option == "--name") {
    name = value;
  } else if (option == "--package") {
    package = value;
  } else if (option == "--srt") {
    srt = value;
  } else if (option == "--allow-tool") {
    tools.allow.push_back(value);
  } else if (option == "--deny-tool") {
    tools.deny.push_back(value);
  } else if (option == "--set") {
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string::npos) return bad_usage("write KEY=VALUE");
    given.values[value.substr(0, equals)].push_back(value.substr(equals + 1));
  }
  return {};
}

Result<ResolvedServer> resolve_server(RunOptions& options, const ServerAsk& ask) {
  if (auto taken = take_srt(options, ask); !taken) return std::unexpected(std::move(taken.error()));
  auto resolved = take_source(options, ask);
  if (!resolved) return resolved;
  if (!options.manifest.empty()) {
    if (auto granted = grant_manifest_runtime(options); !granted) {
      return std::unexpected(std::move(granted.error()));
    }
  } else {
    resolved->hint = run_without_fetching(options.request);
    if (options.backend != Backend::posix) grant_runtime(options.request);
  }
  return resolved;
}

}  // namespace cordon::app
