// A connection between the command and the service of a pool.
#pragma once

#include "pool_messages.h"
#include "service_channel.h"

namespace cordon::app::pool {

inline constexpr service::Dialect kDialect{
    .name = "pool",
    .protocol = kProtocol,
    .last_kind = static_cast<std::uint16_t>(Kind::stopping),
};

using Channel = service::ChannelOf<Kind, kDialect>;
using Message = service::MessageOf<Kind>;

}  // namespace cordon::app::pool
