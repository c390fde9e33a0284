// Bundles of MCP servers, as archives and as folders.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "cordon/workdir.h"
#include "mcp/source/launch.h"

namespace cordon::app {

struct OpenBundle {
  std::optional<WorkDir> unpacked{};  // of an archive; goes with this
  std::string directory{};            // absolute, without links: to be granted read-only
};

// Unpacks the archive into a fresh private directory below `cache` (empty: the usual one). If
// `sha256` is not empty the file has to have that digest. Errors: invalid_argument, unsupported,
// the OS's; nothing is left behind.
[[nodiscard]] Result<OpenBundle> open_archive(const std::string& file, std::string_view sha256,
                                              const std::string& cache);
// The folder that `manifest` is in. Errors: invalid_argument for a directory that nobody wants to
// be seen, such as a home.
[[nodiscard]] Result<OpenBundle> open_folder(const std::string& manifest);

// What its manifest.json comes to. `called`: what messages call the bundle.
[[nodiscard]] Result<mcp::Launch> launch_of(const OpenBundle& bundle, const mcp::Given& given,
                                            const std::string& called);

}  // namespace cordon::app
