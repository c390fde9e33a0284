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

// "oci:DIR[:TAG]" is a layout, a file an archive of one; else it is the root itself.
Result<void> apply_rootfs(RunOptions& options, const std::string& value) {
  constexpr std::string_view kLayout = "oci:";
  std::string_view place = value;
  options.image = false;
  options.image_tag.clear();
  if (place.starts_with(kLayout)) {
    options.image = true;
    place.remove_prefix(kLayout.size());
    const std::size_t colon = place.rfind(':');
    if (colon != std::string_view::npos && place.find('/', colon) == std::string_view::npos) {
      options.image_tag = place.substr(colon + 1);
      if (options.image_tag.empty()) return bad_value(value, "has no tag after its last ':'");
      place = place.substr(0, colon);
    }
  } else if (place.ends_with(".tar")) {
    options.image = true;
  }
  return store(options.request.root, parse_path(place));
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
     {"--rootfs", "DIR|IMAGE",
      "see DIR, read-only, in place of the system's directories\n"
      "and the current one; or what an image has: oci:DIR[:TAG],\n"
      "or an archive FILE.tar of OCI or docker save"},
     apply_rootfs},
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
