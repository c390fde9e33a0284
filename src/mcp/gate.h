// Who looks at each message of one conversation between a client and a server: to refuse what a
// policy does not allow, and to record what passes.
#pragma once

#include <optional>
#include <string>

#include "mcp/message.h"

namespace cordon::mcp {

// Ids are the client's, on both ways.
class Gate {
 public:
  Gate() = default;
  virtual ~Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // On its way to the server. Nothing: it passes. Otherwise the client gets this text (the answer
  // to its request; empty for a notification: it is dropped) and the server nothing.
  [[nodiscard]] virtual std::optional<std::string> from_client(const Message& message) = 0;
  // On its way to the client. Nothing: it passes as it is; otherwise this text in its place
  // (empty: nothing).
  [[nodiscard]] virtual std::optional<std::string> from_server(const Message& message) = 0;
};

}  // namespace cordon::mcp
