#include "mcp_serve_options.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/errors.h"
#include "base/fd.h"
#include "base/printable.h"
#include "base/trust.h"
#include "concat.h"
#include "mcp/http/guard.h"
#include "mcp_server.h"
#include "message.h"
#include "option_values.h"

namespace cordon::app {
namespace {

constexpr const char* kUsualAddress = "127.0.0.1:8808";
constexpr const char* kUsualName = "server";

constexpr auto kSpecs = std::to_array<OptionSpec>({
    {"--listen", "ADDRESS", "127.0.0.1:PORT (8808; 0: any) or unix:PATH; repeatable"},
    {"--as", "NAME", "what the server is called in the path"},
    {"--all", "", "all servers of the client's file"},
    {"--token-file", "FILE", "clients must send what is in FILE"},
    {"--allow-host", "NAME", "a further name that it is called by; repeatable"},
    {"--allow-origin", "ORIGIN", "pages of ORIGIN may use it; repeatable"},
    {"--allow-remote", "", "ADDRESS may be one that others reach"},
    {"--idle", "DUR", "end a session that nobody uses for so long"},
    {"--poll", "DUR", "let clients come again for answers that take longer"},
    {"--max-sessions", "N", "at once"},
    {"--spare", "N", "servers started ahead, of each kind"},
    {"--shared", "", "one process for all sessions"},
    {"--max-body", "SIZE", "of a request"},
    {"--max-rate", "N", "requests a second of all clients together"},
});

std::unexpected<Error> bad_usage(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "usage", std::move(message));
}

// Where the servers are, before each is looked at.
struct Named {
  std::vector<std::string> names;  // --name
  std::string as;
  std::string config;
  bool all = false;
};

// The server, or what is added to its arguments.
struct Operands {
  std::vector<std::string> words;
  bool behind_bar = false;
};

template <typename Number>
Result<void> store_count(Number& field, const std::string& value, std::uint64_t least) {
  const auto count = parse_count(value);
  if (!count) return std::unexpected(count.error());
  if (*count < least) return bad_value(value, "is too few");
  if (*count > std::numeric_limits<Number>::max()) return bad_value(value, "is too many");
  field = static_cast<Number>(*count);
  return {};
}

Result<void> take_origin(ServeOptions& options, const std::string& value) {
  const std::size_t scheme = value.find("://");
  const bool good = scheme != std::string::npos && scheme != 0 &&
                    mcp::read_authority(std::string_view(value).substr(scheme + 3)).has_value();
  if (!good) return bad_value(value, "is no origin: write it as https://example.org");
  options.http.origins.push_back(value);
  return {};
}

Result<void> take_session_option(ServeOptions& options, std::string_view name,
                                 const std::string& value) {
  if (name == "--idle") return store(options.idle, parse_timeout(value));
  if (name == "--poll") return store(options.poll, parse_timeout(value));
  if (name == "--max-sessions") return store_count(options.max_sessions, value, 1);
  if (name == "--spare") return store_count(options.spare, value, 0);
  if (name == "--max-rate") return store_count(options.http.limits.requests_per_second, value, 1);
  if (name == "--max-body") {
    auto stored = store(options.http.limits.body, parse_size(value));
    if (stored && options.http.limits.body == 0) return bad_value(value, "lets nobody ask");
    options.http.limits.bodies = std::max(options.http.limits.bodies, options.http.limits.body);
    return stored;
  }
  options.shared = true;  // --shared
  return {};
}

Result<void> take(ServeOptions& options, Named& named, std::string_view name,
                  const std::string& value) {
  if (name == "--listen") {
    auto address = mcp::read_http_address(value);
    if (!address) return bad_usage(address.error().message);
    options.http.listen.push_back(*std::move(address));
  } else if (name == "--as") {
    named.as = value;
  } else if (name == "--all") {
    named.all = true;
  } else if (name == "--token-file") {
    if (value.empty()) return bad_value(value, "names no file");
    options.token_file = value;
  } else if (name == "--allow-host") {
    if (!mcp::read_authority(value)) return bad_value(value, "is no name of a host");
    options.http.hosts.push_back(value);
  } else if (name == "--allow-origin") {
    return take_origin(options, value);
  } else if (name == "--allow-remote") {
    options.http.remote = true;
  } else {
    return take_session_option(options, name, value);
  }
  return {};
}

Result<void> check_name(const std::string& name) {
  const bool bad =
      name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (bad) {
    return bad_usage(
        concat("\"", base::printable(name), "\" cannot be part of a path: choose another name"));
  }
  return {};
}

// One server, by the way that `cordon mcp run` would take it.
Result<AskedServer> one_server(const std::vector<std::string>& arguments, const std::string& name,
                               const Operands& operands) {
  std::vector<std::string> all = arguments;
  if (!name.empty()) all.insert(all.end(), {"--name", name});
  if (operands.behind_bar) all.emplace_back("--");
  all.insert(all.end(), operands.words.begin(), operands.words.end());
  auto server = parse_server_options(std::move(all));
  if (!server) return server;
  RunOptions& options = server->options;
  if (const auto ready = become_server(options); !ready) return std::unexpected(ready.error());
  if (!options.report.empty()) return bad_usage("--report: there is no one outcome to write");
  if (!options.log.file.empty()) return bad_usage("--log: the servers' logs go to stderr");
  if (options.pool == PoolUse::only) return bad_usage("--pool: servers are not run in a pool");
  if (!options.workdir.collect.empty()) {
    return bad_usage("--collect: what a server has in its work directory goes with it");
  }
  if (!server->resolved.hint.empty()) complain(server->resolved.hint);
  return server;
}

Result<void> add_server(ServeOptions& options, std::string name, AskedServer server) {
  if (auto good = check_name(name); !good) return good;
  if (std::ranges::find(options.servers, name, &ServedProgram::name) != options.servers.end()) {
    return bad_usage(concat("two servers are called ", base::printable(name)));
  }
  options.servers.push_back({.name = std::move(name),
                             .options = std::move(server.options),
                             .resolved = std::move(server.resolved)});
  return {};
}

Result<void> add_servers(ServeOptions& options, const Named& named,
                         const std::vector<std::string>& arguments, const Operands& operands) {
  std::vector<std::string> names = named.names;
  if (named.all) {
    if (named.config.empty()) return bad_usage("--all needs --config FILE");
    if (!names.empty()) return bad_usage("--all and --name: leave one out");
    auto known = servers_in(named.config);
    if (!known) return std::unexpected(std::move(known.error()));
    names = *std::move(known);
    if (names.empty()) return bad_usage(concat(base::printable(named.config), " has no server"));
  }
  if (names.size() > 1 && !operands.words.empty()) {
    return bad_usage("arguments can only be added to one server: name one");
  }
  if (names.size() > 1 && !named.as.empty()) return bad_usage("--as: there are several servers");
  if (names.empty()) names.emplace_back();
  for (const std::string& name : names) {
    auto server = one_server(arguments, name, operands);
    if (!server && named.all && server.error().code == ErrorCode::unsupported) {
      complain(concat("left out: ", server.error().message));
      continue;
    }
    if (!server) return std::unexpected(std::move(server.error()));
    std::string route = named.as.empty() ? name : named.as;
    if (route.empty()) route = kUsualName;
    if (auto added = add_server(options, std::move(route), *std::move(server)); !added)
      return added;
  }
  if (options.servers.empty()) return bad_usage("there is no server that can be served");
  return {};
}

}  // namespace

std::span<const OptionSpec> serve_option_specs() { return kSpecs; }

Result<ServeOptions> parse_serve_options(std::vector<std::string> arguments) {
  std::vector<OptionSpec> specs(kSpecs.begin(), kSpecs.end());
  for (const RunOption& option : run_option_table()) specs.push_back(option.spec);
  specs.insert(specs.end(), server_option_specs().begin(), server_option_specs().end());
  const std::vector<std::string> given = arguments;
  auto line = parse_command_line(specs, std::move(arguments));
  if (!line) return std::unexpected(std::move(line.error()));

  ServeOptions options;
  Named named;
  std::vector<std::string> of_run;  // what is left for it
  for (const auto& [index, value] : line->options) {
    const std::string_view name = specs[index].name;
    if (name == "--help") {
      options.help = true;
      return options;
    }
    Result<void> taken;
    if (index < kSpecs.size()) {
      taken = take(options, named, name, value);
    } else if (name == "--json") {
      options.json = true;
    } else if (name == "--name") {
      named.names.push_back(value);
    } else {
      if (name == "--config") named.config = value;
      of_run.emplace_back(name);
      if (!specs[index].value.empty()) of_run.push_back(value);
    }
    if (!taken) {
      Error error = taken.error();
      error.message = concat(name, ": ", error.message);
      return std::unexpected(std::move(error));
    }
  }
  if (options.http.listen.empty())
    options.http.listen.push_back(*mcp::read_http_address(kUsualAddress));
  for (const mcp::HttpAddress& address : options.http.listen) {
    if (is_loopback(address)) continue;
    if (!options.http.remote) {
      return bad_usage(concat("--listen: others than this host can reach ", address.host,
                              ": use 127.0.0.1, or say --allow-remote"));
    }
    if (options.token_file.empty()) return bad_usage("--allow-remote: needs --token-file");
  }
  const Operands operands{.words = line->operands,
                          .behind_bar = behind_bar(given, line->operands.size())};
  if (auto added = add_servers(options, named, of_run, operands); !added) {
    return std::unexpected(std::move(added.error()));
  }
  return options;
}

Result<std::string> read_token(const std::string& file) {
  constexpr std::size_t kShortest = 16;
  constexpr std::size_t kLongest = 4096;
  const std::string shown = base::printable(file);
  const base::Fd opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found{};
  if (!opened || ::fstat(opened.get(), &found) != 0) {
    return base::fail_os("token", errno, concat("reading the token in ", shown));
  }
  if (!S_ISREG(found.st_mode)) {
    return base::fail(ErrorCode::invalid_argument, "token",
                      concat(shown, " is not a regular file"));
  }
  if (!base::owner_is_trusted(found) || (found.st_mode & 077) != 0) {
    return base::fail(ErrorCode::invalid_argument, "token",
                      concat("others can read or change the token in ", shown,
                             ": make it yours alone, with chmod 600"));
  }
  std::string token(kLongest + 1, '\0');
  ssize_t got = 0;
  do {
    got = ::read(opened.get(), token.data(), token.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) return base::fail_os("token", errno, concat("reading the token in ", shown));
  token.resize(static_cast<std::size_t>(got));
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  const bool clean = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (token.size() < kShortest || token.size() > kLongest || !clean) {
    return base::fail(ErrorCode::invalid_argument, "token",
                      concat("the token in ", shown,
                             " is not one line of 16 to 4096 characters without spaces: make one "
                             "with openssl rand -hex 32"));
  }
  return token;
}

}  // namespace cordon::app
