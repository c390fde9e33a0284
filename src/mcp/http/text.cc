#include "mcp/http/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "base/json_text.h"

namespace cordon::mcp {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

bool is_clean(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// A value that would end its line could say anything behind it: it is left out.
void add_headers(std::string& text, const Headers& headers) {
  for (const auto& [name, value] : headers) {
    if (is_clean(name) && is_clean(value))
      fmt::format_to(std::back_inserter(text), "{}: {}\r\n", name, value);
  }
}

std::string head_text(int status, const HttpManner& manner) {
  std::string text = fmt::format("HTTP/1.1 {} {}\r\n", status, reason_of(status));
  if (!manner.date.empty()) text.append("Date: ").append(manner.date).append("\r\n");
  text += "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  if (manner.reader) {
    fmt::format_to(std::back_inserter(text),
                   "Access-Control-Allow-Origin: {}\r\n"
                   "Access-Control-Expose-Headers: Mcp-Session-Id, Mcp-Protocol-Version, "
                   "WWW-Authenticate\r\n"
                   "Vary: Origin\r\n",
                   *manner.reader);
  }
  if (manner.close) text += "Connection: close\r\n";
  return text;
}

void add_line(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(value).append("\n");
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string answer_text(const Answer& answer, const HttpManner& manner) {
  std::string text = head_text(answer.status, manner);
  add_headers(text, answer.headers);
  const bool none = answer.status == 204 || answer.status == 304;
  if (!answer.body.empty() && !none) text += "Content-Type: application/json\r\n";
  if (!none) fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", answer.body.size());
  text += "\r\n";
  if (!none && !manner.without_body) text += answer.body;
  return text;
}

std::string refusal_text(const HttpRefusal& refusal, const HttpManner& manner) {
  constexpr int kInvalidRequest = -32600;
  constexpr int kServerError = -32000;
  return answer_text(
      {.status = refusal.status,
       .headers = refusal.headers,
       .body = fmt::format(R"({{"jsonrpc":"2.0","id":null,"error":{{"code":{},"message":{}}}}})",
                           refusal.status == 400 ? kInvalidRequest : kServerError,
                           base::json_text(refusal.why))},
      manner);
}

std::string preflight_text(const HttpManner& manner) {
  return answer_text(
      {.status = 204,
       .headers = {{"Access-Control-Allow-Methods", "POST, GET, DELETE"},
                   {"Access-Control-Allow-Headers",
                    "Accept, Authorization, Content-Type, Last-Event-ID, Mcp-Method, Mcp-Name, "
                    "Mcp-Protocol-Version, Mcp-Session-Id"},
                   {"Access-Control-Max-Age", "600"}}},
      manner);
}

std::string stream_head(const Headers& headers, const HttpManner& manner) {
  std::string text = head_text(200, manner);
  text += "Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n";
  if (manner.chunked) text += "Transfer-Encoding: chunked\r\n";
  add_headers(text, headers);
  return text += "\r\n";
}

std::string event_text(const StreamEvent& event) {
  std::string text;
  text.reserve(event.data.size() + event.id.size() + 32);
  if (!event.id.empty() && is_clean(event.id)) add_line(text, "id: ", event.id);
  if (event.retry) {
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(*event.retry);
    add_line(text, "retry: ", std::to_string(std::max<std::int64_t>(wait.count(), 0)));
  }
  if (event.data.empty()) {
    if (event.priming) add_line(text, "data:", "");
  } else {
    // Both characters end a line here. In JSON they are white space, so that they may be replaced.
    std::string_view rest = event.data;
    for (std::size_t end = 0; end != std::string_view::npos;) {
      end = rest.find_first_of("\r\n");
      add_line(text, "data: ", rest.substr(0, end));
      if (end != std::string_view::npos) rest.remove_prefix(end + 1);
    }
  }
  return text += "\n";
}

std::string chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace cordon::mcp
