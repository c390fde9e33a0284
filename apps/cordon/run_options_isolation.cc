#include <array>
#include <utility>

#include "cordon/isolation.h"
#include "option_values.h"
#include "run_option_parts.h"
#include "user_value.h"

namespace cordon::app {
namespace {

Result<void> grant(RunOptions& options, Grant::Kind kind, const std::string& value) {
  auto path = parse_path(value);
  if (!path) return std::unexpected(std::move(path).error());
  options.request.grants.push_back({.kind = kind, .source = *std::move(path)});
  return {};
}

Result<void> apply_read(RunOptions& options, const std::string& value) {
  return grant(options, Grant::Kind::read, value);
}

Result<void> apply_write(RunOptions& options, const std::string& value) {
  return grant(options, Grant::Kind::write, value);
}

Result<void> apply_bind(RunOptions& options, const std::string& value) {
  std::string_view rest = value;
  Grant::Kind kind = Grant::Kind::write;
  if (rest.ends_with(":ro")) {
    kind = Grant::Kind::read;
    rest.remove_suffix(3);
  }
  const std::size_t colon = rest.find(':');
  if (colon == std::string_view::npos || rest.find(':', colon + 1) != std::string_view::npos) {
    return bad_value(value, "is not SRC:DST or SRC:DST:ro");
  }
  auto source = parse_path(rest.substr(0, colon));
  if (!source) return std::unexpected(std::move(source).error());
  auto target = parse_path(rest.substr(colon + 1));
  if (!target) return std::unexpected(std::move(target).error());
  options.request.grants.push_back(Grant::bind(*std::move(source), *std::move(target), kind));
  return {};
}

Result<void> apply_tmpfs(RunOptions& options, const std::string& value) {
  const std::string_view text = value;
  const std::size_t colon = text.rfind(':');
  auto path = parse_path(text.substr(0, colon));
  if (!path) return std::unexpected(std::move(path).error());
  std::uint64_t size = 0;
  if (colon != std::string_view::npos) {
    const auto parsed = parse_size(text.substr(colon + 1));
    if (!parsed) return std::unexpected(parsed.error());
    // To the library 0 means "as usual"; here it can only be a mistake.
    if (*parsed == 0) return bad_value(value, "leaves no room at all: leave :SIZE out for 64M");
    size = *parsed;
  }
  options.request.grants.push_back(Grant::tmpfs(*std::move(path), size));
  return {};
}

Result<void> apply_user(RunOptions& options, const std::string& value) {
  return store(options.request.user, parse_user(value));
}

Result<void> apply_net(RunOptions& options, const std::string& value) {
  if (value == "none") {
    options.request.network = Network::none;
  } else if (value == "loopback") {
    options.request.network = Network::loopback;
  } else if (value == "host") {
    options.request.network = Network::host;
  } else {
    return bad_value(value, "is no network: there are none, loopback and host");
  }
  return {};
}

Result<void> apply_no_unix(RunOptions& options, const std::string& /*value*/) {
  options.request.unix_sockets = false;
  return {};
}

constexpr std::string_view kIsolation = "Isolation, by the linux backend";

constexpr auto kTable = std::to_array<RunOption>({
    {kIsolation,
     {"--read", "PATH",
      "let the program read PATH, besides the system's\n"
      "directories and the current directory; repeatable"},
     apply_read},
    {kIsolation, {"--write", "PATH", "let the program change PATH; repeatable"}, apply_write},
    {kIsolation,
     {"--bind", "SRC:DST[:ro]", "let it see SRC as DST, to change or to read; repeatable"},
     apply_bind},
    {kIsolation,
     {"--tmpfs", "PATH[:SIZE]", "an empty directory in memory (64M) at PATH; repeatable"},
     apply_tmpfs},
    {kIsolation,
     {"--user", "NAME|UID",
      "run as this user, with its group or as NAME:GROUP; else\n"
      "as you, or for root as an unprivileged id"},
     apply_user},
    {kIsolation,
     {"--net", "NAME",
      "none (the default), loopback (of its own), or host (yours,\n"
      "not isolated)"},
     apply_net},
    {kIsolation,
     {"--no-unix", "",
      "no unix sockets but socketpair(), so that no socket below\n"
      "a granted path can be reached"},
     apply_no_unix},
});

}  // namespace

std::span<const RunOption> isolation_options() { return kTable; }

}  // namespace cordon::app
