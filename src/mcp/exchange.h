// One HTTP exchange as the bridge sees it: what was asked, and how it is answered. What stands
// between them and the wire (sockets, Host and Origin, tokens, sizes) is the HTTP front's.
//
// Everything happens in the thread that runs the event loop; nothing here blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/clock.h"

namespace cordon::mcp {

using Headers = std::vector<std::pair<std::string, std::string>>;

enum class Verb : std::uint8_t { post, get, remove };

struct Ask {
  Verb verb = Verb::post;
  std::string server{};     // the first part of the path: /SERVER/mcp
  Headers headers{};        // those that begin with "mcp-", and last-event-id; lower-case names
  bool takes_json = false;  // by its Accept
  bool takes_stream = false;
  bool prefers_stream = false;  // it takes both, and names the stream first
  std::string body{};

  // Nothing: there is no such header. One that is there twice is refused by the front.
  [[nodiscard]] std::optional<std::string> header(std::string_view name) const {
    for (const auto& [known, value] : headers) {
      if (known == name) return value;
    }
    return std::nullopt;
  }
};

struct Answer {
  int status = 200;
  Headers headers{};
  std::string body{};  // JSON; empty: none
};

// An event of a stream (text/event-stream).
struct StreamEvent {
  std::string id{};    // empty: none
  std::string data{};  // one line
  std::optional<Duration> retry{};
  bool priming = false;  // empty data, but an event all the same
};

// Either answer(), or begin_stream(), any number of send() and end_stream(). What is done after the
// client has gone is ignored.
class Reply {
 public:
  Reply() = default;
  virtual ~Reply() = default;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;

  virtual void answer(Answer answer) = 0;
  virtual void begin_stream(Headers headers) = 0;
  virtual void send(StreamEvent event) = 0;
  virtual void end_stream() = 0;

  // What was sent and not yet taken by the client, in bytes: who sends holds back above some bound
  // until when_drained() calls (once; at once when nothing is pending).
  [[nodiscard]] virtual std::size_t pending() const = 0;
  virtual void when_drained(std::function<void()> call) = 0;
  // Calls (once) when the client goes away before the answer or the stream has come to its end.
  virtual void when_gone(std::function<void()> call) = 0;
};

class Handler {
 public:
  Handler() = default;
  virtual ~Handler() = default;
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

  // Whether /SERVER/mcp is a route.
  [[nodiscard]] virtual bool knows(std::string_view server) const = 0;
  virtual void handle(Ask ask, std::shared_ptr<Reply> reply) = 0;
};

}  // namespace cordon::mcp
