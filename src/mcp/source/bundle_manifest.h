// manifest.json of an MCP bundle (MCPB, formerly DXT), versions 0.1 to 0.4. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/error.h"
#include "mcp/source/launch.h"

namespace cordon::mcp {

// Of what the manifest says, what is needed to run the server on Linux. Texts still have their
// "${…}".
struct BundleManifest {
  std::string name{};
  std::string version{};
  std::string command{};
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};
  std::vector<Setting> settings{};  // user_config
};

// `file` is what messages call it. Errors: invalid_argument, unsupported (a version that is not
// known, a server that is not for Linux).
[[nodiscard]] Result<BundleManifest> read_bundle_manifest(std::string_view text,
                                                          std::string_view file);

struct BundlePlace {
  std::string directory{};  // absolute: ${__dirname}
  std::string home{};       // ${HOME}; may be empty
};

// Errors: those of settle(); unsupported for a "${…}" that is not known, or for a secret that is
// wanted elsewhere than in a variable of its own.
[[nodiscard]] Result<Launch> launch_bundle(const BundleManifest& manifest, const BundlePlace& place,
                                           const Given& given, std::string_view file);

}  // namespace cordon::mcp
