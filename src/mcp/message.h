// JSON-RPC 2.0 as MCP uses it: what a line or a body says, and how to answer. Whichever way it
// came.
//
// A message keeps its exact text: one that is passed on is passed on byte for byte, except for its
// id where two sides number their requests differently. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/json_view.h"

namespace cordon::mcp {

// As its sender wrote it, so that the answer has the same.
class Id {
 public:
  [[nodiscard]] static Id number(std::int64_t value);
  [[nodiscard]] static Id text(std::string_view value);
  // Nothing: no string and no whole number, or longer than an id has reason to be.
  [[nodiscard]] static std::optional<Id> read(std::string_view json);

  [[nodiscard]] const std::string& json() const { return json_; }

  // 1 and "1" are not the same; "a" and "\u0061" are.
  friend bool operator==(const Id& one, const Id& other) { return one.meant_ == other.meant_; }
  friend auto operator<=>(const Id& one, const Id& other) { return one.meant_ <=> other.meant_; }

 private:
  Id(std::string json, std::string meant) : json_(std::move(json)), meant_(std::move(meant)) {}
  std::string json_;
  std::string meant_;
};

class Message {
 public:
  enum class Kind : std::uint8_t { request, notification, response, error };

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool asks() const { return kind_ == Kind::request; }
  [[nodiscard]] bool answers() const { return kind_ == Kind::response || kind_ == Kind::error; }
  // None: a notification, or an error about what could not be read.
  [[nodiscard]] const std::optional<Id>& id() const { return id_; }
  [[nodiscard]] const std::string& method() const { return method_; }  // empty: an answer
  [[nodiscard]] const std::string& text() const { return text_; }

  // The exact texts of its parts; empty: it has none.
  [[nodiscard]] std::string_view params() const { return part(params_); }
  [[nodiscard]] std::string_view result() const { return part(result_); }
  [[nodiscard]] std::string_view error() const { return part(error_); }

  [[nodiscard]] std::string_view id_text() const { return part(id_at_); }

  // The same with another id, for messages that have one.
  [[nodiscard]] std::string with_id(const Id& id) const;

 private:
  friend class MessageReader;
  struct Span {
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  [[nodiscard]] std::string_view part(Span span) const {
    return std::string_view(text_).substr(span.begin, span.size);
  }

  Kind kind_ = Kind::notification;
  std::optional<Id> id_;
  std::string method_;
  std::string text_;
  Span id_at_;
  Span params_;
  Span result_;
  Span error_;
};

// The codes of JSON-RPC.
inline constexpr int kParseError = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternalError = -32603;

// Why something is no message, as its sender is to be told.
struct Fault {
  int code = kParseError;
  std::string message;
  std::optional<Id> id;  // of the request that it was meant to be, where that can be told
};

struct MessageLimits {
  JsonLimits json{};
  // Several at once, in an array: only the revision of 2025-03-26 has that. 0: not allowed.
  std::size_t max_batch = 0;
};

struct Parsed {
  std::vector<std::expected<Message, Fault>> messages;  // at least one
  bool batch = false;                                   // to be answered by an array, too
};

[[nodiscard]] std::expected<Parsed, Fault> parse(std::string_view text,
                                                 const MessageLimits& limits = {});
// Where one message is all that there may be.
[[nodiscard]] std::expected<Message, Fault> parse_one(std::string_view text,
                                                      const MessageLimits& limits = {});

// What is sent. `params`, `result` and `data` are JSON; empty: left out.
[[nodiscard]] std::string make_request(const Id& id, std::string_view method,
                                       std::string_view params = {});
// The same message without line ends between its parts, where bodies of HTTP may have them: to a
// program that reads lines they would be the end of it, and what follows another message.
[[nodiscard]] std::string one_line(std::string_view text);

[[nodiscard]] std::string make_notification(std::string_view method, std::string_view params = {});
[[nodiscard]] std::string make_response(const Id& id, std::string_view result);
[[nodiscard]] std::string make_error(const std::optional<Id>& id, int code,
                                     std::string_view message, std::string_view data = {});
[[nodiscard]] std::string make_error(const Fault& fault);

}  // namespace cordon::mcp
