// What a request that may be made asks for. Pure.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/exchange.h"
#include "mcp/http/message.h"

namespace cordon::mcp {

// Without its body. Refused: 404, 405, 415, 417, or 400 for headers that are there twice.
[[nodiscard]] std::expected<Ask, HttpRefusal> route(const HttpHead& head, const Handler& handler);

// A browser's question whether a page may ask.
[[nodiscard]] bool is_preflight(const HttpHead& head);

// The name in "/NAME/mcp", in whatever way it is written. Nothing: it is no such path.
[[nodiscard]] std::optional<std::string> server_of(std::string_view target);

// Whether an Accept header takes `type` ("application/json").
[[nodiscard]] bool accepts(std::string_view header, std::string_view type);

}  // namespace cordon::mcp
