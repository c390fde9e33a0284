// Answers and streams of HTTP as text. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "mcp/exchange.h"
#include "mcp/http/message.h"

namespace cordon::mcp {

[[nodiscard]] std::string lower_case(std::string_view text);

// What all answers on one request have in common.
struct HttpManner {
  bool close = false;                   // it is the connection's last
  bool without_body = false;            // HEAD
  bool chunked = true;                  // of a stream
  std::optional<std::string> reader{};  // the Origin whose pages may read it
  std::string_view date{};              // "Mon, 16 Nov 2026 21:00:00 GMT"
};

// The head and the body.
[[nodiscard]] std::string answer_text(const Answer& answer, const HttpManner& manner);
// With a JSON-RPC error of no id.
[[nodiscard]] std::string refusal_text(const HttpRefusal& refusal, const HttpManner& manner);
[[nodiscard]] std::string preflight_text(const HttpManner& manner);
// The head of a stream of events.
[[nodiscard]] std::string stream_head(const Headers& headers, const HttpManner& manner);

// An event as its bytes on the wire, without chunks.
[[nodiscard]] std::string event_text(const StreamEvent& event);
inline constexpr std::string_view kStreamComment = ":\n\n";

[[nodiscard]] std::string chunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace cordon::mcp
