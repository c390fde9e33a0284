// Messages with descriptors over a connected unix socket.
//
// Sizes are bounded, and what arrives is taken apart strictly. One thread at a time sends, and one
// at a time receives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/error.h"
#include "service_wire.h"

namespace cordon::app::service {

// What is spoken on a connection.
struct Dialect {
  const char* name;         // of whose service it is, for errors: "pool"
  std::uint16_t protocol;   // changes with every change of what is said
  std::uint16_t last_kind;  // kinds of messages are 1 to this
};

inline constexpr std::uint32_t kMostBytes = 1024 * 1024;  // of a message
inline constexpr std::uint32_t kMostPins = 64;
inline constexpr std::uint32_t kMostDescriptors = 3 + kMostPins;

struct RawMessage {
  std::uint16_t kind = 0;
  std::string bytes{};
  std::vector<base::Fd> descriptors{};
};

class RawChannel {
 public:
  RawChannel(base::Fd socket, const Dialect& dialect);

  [[nodiscard]] int fd() const { return socket_.get(); }

  // Waits up to `patience` until all of it is on its way. Errors: closed (the other side is gone),
  // timed_out, invalid_argument (too large), system.
  [[nodiscard]] Result<void> send(std::uint16_t kind, std::string_view bytes,
                                  std::span<const int> descriptors, Duration patience);

  // The next message; with `patience` 0 only what is at hand. Errors: timed_out (what has come of
  // it is kept for the next call), closed, invalid_argument (not a message), system.
  [[nodiscard]] Result<RawMessage> receive(Duration patience);

 private:
  [[nodiscard]] Result<void> read_some();
  [[nodiscard]] Result<std::optional<RawMessage>> complete();

  const Dialect* dialect_;
  base::Fd socket_;
  std::string in_;
  std::vector<base::Fd> descriptors_;
};

template <typename Kind>
struct MessageOf {
  Kind kind{};
  std::string bytes{};
  std::vector<base::Fd> descriptors{};
};

// The same for the messages of one service: `Kind` is an enumeration that begins with 1.
template <typename Kind, const Dialect& kDialect>
class ChannelOf {
 public:
  explicit ChannelOf(base::Fd socket) : raw_(std::move(socket), kDialect) {}

  [[nodiscard]] int fd() const { return raw_.fd(); }
  [[nodiscard]] Result<void> send(Kind kind, std::string_view bytes,
                                  std::span<const int> descriptors, Duration patience) {
    return raw_.send(static_cast<std::uint16_t>(kind), bytes, descriptors, patience);
  }
  template <typename T>
  [[nodiscard]] Result<void> send(Kind kind, T value, Duration patience) {
    return send(kind, to_bytes(std::move(value)), {}, patience);
  }
  [[nodiscard]] Result<MessageOf<Kind>> receive(Duration patience) {
    auto raw = raw_.receive(patience);
    if (!raw) return std::unexpected(std::move(raw.error()));
    return MessageOf<Kind>{.kind = static_cast<Kind>(raw->kind),
                           .bytes = std::move(raw->bytes),
                           .descriptors = std::move(raw->descriptors)};
  }

 private:
  RawChannel raw_;
};

}  // namespace cordon::app::service
