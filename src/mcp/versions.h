// The revisions of the protocol that the bridge speaks.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace cordon::mcp {

inline constexpr std::string_view kModern = "2026-07-28";
inline constexpr auto kWithSessions = std::to_array<std::string_view>(
    {"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"});

[[nodiscard]] constexpr bool has_sessions(std::string_view version) {
  return std::ranges::find(kWithSessions, version) != kWithSessions.end();
}

// What a request of the stateless era says about itself, in its _meta.
inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaServer = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaLogLevel = "io.modelcontextprotocol/logLevel";

}  // namespace cordon::mcp
