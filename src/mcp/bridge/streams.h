// The event streams of one session. Each has a number, each of its events too, and an event's id
// says both ("3-17"): a client that lost its connection names the last event it has, and gets what
// came after it on that stream and on no other. A bounded number of bytes is kept for that, the
// oldest of all streams go first.
//
// Stream 0 is for what belongs to no request: it is there before any client asks for it, and keeps
// what comes until one does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "mcp/exchange.h"

namespace cordon::mcp {

class Streams {
 public:
  struct Settings {
    std::size_t keep = 0;     // bytes
    std::size_t pending = 0;  // bytes that a client may leave unread before `full` is called
    Duration retry{};
    bool priming = false;             // an empty event first: 2025-11-25
    std::function<void()> full{};     // a client is slow …
    std::function<void()> drained{};  // … and no client is any more
  };
  using Number = std::uint64_t;

  explicit Streams(Settings settings) : settings_(std::move(settings)) { streams_[0]; }
  // Those with a client are ended.
  ~Streams();
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  void set_priming(bool priming) { settings_.priming = priming; }

  // A new one, answering `reply`.
  [[nodiscard]] Number open(std::shared_ptr<Reply> reply, Headers headers);
  // Stream 0 to this client, with what it has kept. False: another client has it.
  [[nodiscard]] bool open_standing(std::shared_ptr<Reply> reply, Headers headers);
  enum class Resumed : std::uint8_t { yes, unknown, forgotten };
  // The stream that the event is of, from the event after it.
  [[nodiscard]] Resumed resume(std::string_view last_event, std::shared_ptr<Reply> reply,
                               Headers headers);

  void send(Number number, std::string data);
  // Nothing more will come on it.
  void finish(Number number);
  // Ends the client's connection, but not the stream: it is to come again.
  void interrupt(Number number);
  // Ends all connections.
  void end();

  [[nodiscard]] bool live(Number number) const;
  [[nodiscard]] bool any_live() const;

 private:
  struct Stream {
    std::shared_ptr<Reply> reply{};
    std::uint64_t next = 1;
    std::uint64_t shown = 0;  // the last that any client was sent
    std::size_t kept = 0;     // events
    std::uint64_t lost = 0;   // the last that is no more kept
    bool finished = false;
  };
  struct Kept {
    Number stream;
    std::uint64_t event;
    std::string data;
  };

  void connect(Number number, Stream& stream, std::shared_ptr<Reply> reply, Headers headers);
  void replay(Number number, Stream& stream, std::uint64_t after);
  void put(Number number, Stream& stream, std::uint64_t event, const std::string& data);
  void prime(Number number, Stream& stream);
  void watch(const std::shared_ptr<Reply>& reply);
  void forget(const Reply* reply);
  void disconnect(Stream& stream);
  void trim();

  Settings settings_;
  std::map<Number, Stream> streams_;
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0;
  Number last_ = 0;
  std::set<const Reply*> slow_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cordon::mcp
