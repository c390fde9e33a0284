// What all parts of one bridge share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/bridge/bridge.h"
#include "mcp/bridge/event_loop.h"
#include "mcp/bridge/starter.h"
#include "mcp/message.h"

namespace cordon::mcp {

struct BridgeCore {
  BridgeCore(boost::asio::io_context& context, BridgeLimits bounds, BridgeLog sink)
      : loop(std::make_shared<EventLoop>(context)),
        starter(bounds.start_threads),
        limits(bounds),
        log(std::move(sink)) {}

  std::shared_ptr<EventLoop> loop;
  Starter starter;
  BridgeLimits limits;
  BridgeLog log;
  BridgeStats counts{};  // only what is not counted by looking
  bool stopping = false;
  std::function<void()> child_gone{};

  void say(std::string_view server, std::string_view line) const {
    if (log) log(server, line);
  }
  // An answer that says why nothing else can be said.
  void refuse(Reply& reply, int status, int code, std::string_view message,
              const std::optional<Id>& id = {}, std::string_view data = {}) {
    ++counts.refused;
    reply.answer({.status = status, .headers = {}, .body = make_error(id, code, message, data)});
  }
};

// The codes of MCP itself.
inline constexpr int kHeaderMismatch = -32020;
inline constexpr int kMissingCapability = -32021;
inline constexpr int kUnsupportedVersion = -32022;

}  // namespace cordon::mcp
