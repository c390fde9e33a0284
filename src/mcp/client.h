// A client of one MCP server: asks, waits for the answer, and answers what the server asks
// meanwhile. Over a Process whose stdin is a pipe and whose stdout comes as lines.
//
// For one thread. Whatever the server does, every call comes back within the time that it has:
// floods, garbage and requests of the server's own count towards it.
#pragma once

#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/events.h"
#include "cordon/process.h"
#include "mcp/gate.h"
#include "mcp/message.h"

namespace cordon::mcp {

struct ClientOptions {
  std::string name = "cordon";
  std::string version = "0";
  Duration patience = std::chrono::seconds(30);  // for each answer
  Duration probe = std::chrono::seconds(2);      // for whether it is of the stateless era
  Gate* gate = nullptr;                          // looks at every message; null: nobody does
};

struct AskFailure {
  enum class Kind : std::uint8_t {
    timed_out,
    ended,     // the server did, or it closed its stdin
    answered,  // with an error: `code` is the server's, or the gate's
    wrong,     // with what cannot be understood
  };
  Kind kind = Kind::timed_out;
  int code = 0;
  std::string message{};  // for a person
};
template <typename T>
using Asked = std::expected<T, AskFailure>;

struct ServerFacts {
  bool modern = false;  // each request for itself, as from 2026-07-28 on
  std::string protocol{};
  std::string name{};
  std::string version{};
  std::string capabilities = "{}";  // JSON
  std::string instructions{};
};

class Client {
 public:
  // Everything given must outlive the client.
  Client(Process& process, EventStream& events, Clock& clock, ClientOptions options);

  // Finds out which era the server is of, and does what comes first there.
  [[nodiscard]] Asked<ServerFacts> begin();
  // The result. `params` is a JSON object; empty: none.
  [[nodiscard]] Asked<std::string> ask(std::string_view method, std::string_view params = {});
  // All pages of a list: the elements of `key`.
  [[nodiscard]] Asked<std::vector<std::string>> list(std::string_view method, std::string_view key);
  // Closes the server's stdin and reads on until it has ended, or not by itself within `grace`:
  // then it is ended.
  void end(Duration grace);

  // The last that the server wrote to stderr, and lines of its stdout that are no messages.
  [[nodiscard]] const std::string& log() const { return log_; }
  [[nodiscard]] std::uint64_t noise() const { return noise_; }
  [[nodiscard]] const std::string& first_noise() const { return first_noise_; }

 private:
  [[nodiscard]] Asked<std::string> ask_within(std::string_view method, std::string_view params,
                                              Duration patience);
  [[nodiscard]] Asked<void> send(const std::string& text, TimePoint until, std::string_view what);
  void tell(const std::string& text);
  // Waits for the next event at most until then, and deals with it. False: the time is up.
  [[nodiscard]] bool look(TimePoint until);
  void take_line(const Event& event);
  void take(const Message& message);
  void answer(const Message& request);
  void send_answers(TimePoint until);
  [[nodiscard]] std::string with_meta(std::string_view params) const;
  [[nodiscard]] AskFailure late(std::string_view method, Duration patience) const;
  [[nodiscard]] AskFailure gone(std::string_view method) const;

  Process& process_;
  EventStream& events_;
  Clock& clock_;
  const ClientOptions options_;
  bool modern_ = false;
  std::int64_t last_id_ = 0;
  std::optional<Id> waiting_;      // for the answer to this
  std::optional<Message> answer_;  // which has come
  std::deque<std::string> to_send_;
  bool ended_ = false;
  bool in_long_line_ = false;
  std::string log_;
  std::uint64_t noise_ = 0;
  std::string first_noise_;
};

}  // namespace cordon::mcp
