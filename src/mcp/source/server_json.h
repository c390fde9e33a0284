// server.json of the MCP registry (schema of 2025-12-11, and earlier ones with the same names): how
// a published server is started. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "mcp/source/launch.h"

namespace cordon::mcp {

// An argument or a variable. What the user may say about it is in Package::settings.
struct PackageInput {
  std::string name{};     // "--port", or of a variable; empty: a positional argument
  std::string value{};    // fixed, with "{…}" for settings
  std::string setting{};  // instead of `value`: the setting that it is; empty: none
};

struct Package {
  enum class Type : std::uint8_t { npm, pypi, nuget, mcpb, oci };
  Type type = Type::npm;
  std::string type_name{};
  std::string place{};  // in the file
  std::string identifier{};
  std::string version{};
  std::string sha256{};   // of the file; lower case; empty: not said
  std::string runtime{};  // runtimeHint; empty: the usual one
  bool stdio = false;
  std::vector<PackageInput> runtime_arguments{};
  std::vector<PackageInput> arguments{};
  std::vector<PackageInput> variables{};
  std::vector<Setting> settings{};
};

struct ServerJson {
  std::string name{};
  std::string version{};
  std::vector<Package> packages{};
};

[[nodiscard]] Result<ServerJson> read_server_json(std::string_view text, std::string_view file);

// The one package that can be run here; of several, that of the type `wanted`. Errors:
// invalid_argument (several: says how to choose), unsupported (none; says why), not_found (none of
// that type).
[[nodiscard]] Result<Package> choose_package(const ServerJson& server, std::string_view wanted,
                                             std::string_view file);

// For all types but mcpb, which is a bundle: there command stays empty. Errors: those of settle();
// unsupported for a secret among the arguments.
[[nodiscard]] Result<Launch> launch_package(const Package& package, const Given& given,
                                            std::string_view file);

}  // namespace cordon::mcp
