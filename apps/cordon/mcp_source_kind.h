// Which kind of SERVER a path is.
#pragma once

#include <cstdint>
#include <string>

#include "cordon/error.h"

namespace cordon::app {

struct SourceKind {
  enum class Kind : std::uint8_t { command, archive, bundle, registry, manifest };
  Kind kind = Kind::command;
  std::string file{};  // that describes it; of a command empty
};

// By what is there: a file ending in .mcpb or .dxt; .json, by what is in it; .toml; a directory
// that has one of manifest.json, manifest.toml and server.json. Everything else is a command.
// Errors: invalid_argument (it could be several things, or none; says what to write), the OS's.
[[nodiscard]] Result<SourceKind> recognise_source(const std::string& server);

// A regular file of at most `most` bytes. Errors: invalid_argument, the OS's.
[[nodiscard]] Result<std::string> read_source(const std::string& path, std::size_t most);
inline constexpr std::size_t kLargestDescription = std::size_t{4} << 20;

}  // namespace cordon::app
