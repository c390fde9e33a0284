// Messages with descriptors over a connected unix socket.
//
// Sizes are bounded, and what arrives is taken apart strictly. One thread at a time sends, and one
// at a time receives.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "cordon/clock.h"
#include "cordon/error.h"
#include "pool_messages.h"

namespace cordon::app::pool {

struct Message {
  Kind kind = Kind::reserve;
  std::string bytes{};
  std::vector<base::Fd> descriptors{};
};

class Channel {
 public:
  explicit Channel(base::Fd socket);

  [[nodiscard]] int fd() const { return socket_.get(); }

  // Waits up to `patience` until all of it is on its way. Errors: closed (the other side is gone),
  // timed_out, invalid_argument (too large), system.
  [[nodiscard]] Result<void> send(Kind kind, const std::string& bytes,
                                  std::span<const int> descriptors, Duration patience);
  template <typename T>
  [[nodiscard]] Result<void> send(Kind kind, T value, Duration patience) {
    return send(kind, to_bytes(std::move(value)), {}, patience);
  }

  // The next message; with `patience` 0 only what is at hand. Errors: timed_out (what has come of
  // it is kept for the next call), closed, invalid_argument (not a message), system.
  [[nodiscard]] Result<Message> receive(Duration patience);

 private:
  [[nodiscard]] Result<void> read_some();
  [[nodiscard]] Result<std::optional<Message>> complete();

  base::Fd socket_;
  std::string in_;
  std::vector<base::Fd> descriptors_;
};

}  // namespace cordon::app::pool
