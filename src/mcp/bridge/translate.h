// How a server of the eras with sessions looks to a client of the stateless one. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/message.h"

namespace cordon::mcp {

// The params of the bridge's own initialize: clients of every kind are behind it.
[[nodiscard]] std::string own_initialize_params();
// … and of its server/discover.
[[nodiscard]] std::string own_discover_params();
// Whether an answer to that is one of a server that speaks 2026-07-28.
[[nodiscard]] bool speaks_modern(const Message& answer);

// The result of server/discover, from that of initialize.
[[nodiscard]] std::string discover_result(std::string_view greeting);
// The result of initialize for a client that asked for this version, from that of server/discover.
[[nodiscard]] std::string initialize_result(std::string_view discovered, std::string_view version);
// The answer to a request of this method, with what results of the stateless era have and others
// have not.
[[nodiscard]] std::string modern_answer(const Message& answer, const Id& id,
                                        std::string_view method);

// A request of the server's, for the client to answer with its next try.
struct InputRequest {
  Id id;  // of the server's
  std::string method;
  std::string params;
};
using InputRequests = std::map<std::string, InputRequest>;
[[nodiscard]] std::string input_required(const InputRequests& requests, std::string_view state);
// The capability of a client that can be asked this; empty: none can.
[[nodiscard]] std::string_view needed_capability(std::string_view method);

// What a listener gets of what it asks for: the subset of `wanted` (the filter of its request) that
// the server can send.
[[nodiscard]] std::string honoured_filter(std::string_view wanted, std::string_view greeting);
// Whether the filter has this notification in it.
[[nodiscard]] bool in_filter(std::string_view filter, const Message& notification);
// The notification with the subscription's id in its _meta.
[[nodiscard]] std::string for_subscription(const Message& notification, const Id& subscription);

// Whether a log message of this level is wanted by who asked for `wanted` and worse.
[[nodiscard]] bool severe_enough(std::string_view level, std::string_view wanted);

}  // namespace cordon::mcp
