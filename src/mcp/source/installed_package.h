// What `npx` would run, if it is installed already: then it can be run directly, without npx, its
// cache and the network. Pure: what is looked at comes through InstalledLookups.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cordon::mcp {

// The arguments of npx, understood.
struct NpxCall {
  std::string name{};               // of the package, "@me/weather"
  std::string version{};            // exact, "1.2.3"; empty: any will do
  std::vector<std::string> args{};  // the server's own
};

// Nothing if there is an option in front that is not known, or a version that is no exact one.
[[nodiscard]] std::optional<NpxCall> parse_npx(std::span<const std::string> args);

struct InstalledLookups {
  // The text of a file, if it is there.
  std::function<std::optional<std::string>(const std::string& path)> read;
};

// The program of the package in the first of the `node_modules` directories that has it, in the
// version that is asked for: an absolute path in there.
[[nodiscard]] std::optional<std::string> installed_program(
    const NpxCall& call, std::span<const std::string> node_modules,
    const InstalledLookups& lookups);

}  // namespace cordon::mcp
