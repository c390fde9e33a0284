// What the command and the service of a pool say to each other.
//
//   client                    service
//   reserve             →                  who comes, and what it takes for granted
//                       ←     ready        a place is free for one run
//                       ←     refused      … or not, and why; nothing was run
//   run (descriptors)   →
//                       ←     started
//   signal …            →
//                       ←     ended        with the whole outcome; also of what did not start
//
//   status              →
//                       ←     status
//   stop                →
//                       ←     stopping     and the connection ends with the service
//
// A client that goes away ends its run. A message that is not understood is refused, and ends the
// connection.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>

#include "service_carry.h"
#include "service_channel.h"

namespace cordon::app::pool {

// With every change of what is said. The version of Cordon has to be the same, too.
inline constexpr std::uint16_t kProtocol = 2;
using service::from_bytes;
using service::kMostBytes;
using service::kMostPins;
using service::Signal;
using service::Stop;  // the grace is for what runs
using service::to_bytes;

// Below Cordon's own directory.
inline const std::array<std::string, 1> kPlace = {"pool"};

enum class Kind : std::uint16_t {
  reserve = 1,
  run,
  signal,
  status,
  stop,
  ready,
  refused,
  started,
  ended,
  stopping,
};

// Of a message that says all by its kind.
struct Nothing {};
template <typename Codec>
void carry(Codec& /*codec*/, Nothing& /*value*/) {}

struct Reserve {
  std::string version;   // of Cordon
  std::string home;      // HOME and TMPDIR: the backend reads them where it runs
  std::string tmpdir;    // "=VALUE"; empty: not set
  Duration patience{0};  // how long the client waits for a place
};
template <typename Codec>
void carry(Codec& codec, Reserve& value) {
  auto& [version, home, tmpdir, patience] = value;
  codec.all(version, home, tmpdir, patience);
}

struct Refused {
  enum class Why : std::uint8_t {
    not_permitted,  // the client is not somebody whom the service works for
    different,      // its surroundings are not the service's, so the run would not be the same
    busy,           // no place in time
    stopping,
    bad_message,
  };
  Why why = Why::bad_message;
  std::string message;
};
template <typename Codec>
void carry(Codec& codec, Refused& value) {
  auto& [why, message] = value;
  codec.all(why, message);
}

struct Started {
  std::int64_t pid = 0;
};
template <typename Codec>
void carry(Codec& codec, Started& value) {
  auto& [pid] = value;
  codec.all(pid);
}

struct ServiceStatus {
  std::int64_t pid = 0;
  Duration uptime{0};
  std::uint64_t size = 0;  // places
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
  std::uint64_t served = 0;   // runs that came to an end
  std::uint64_t refused = 0;  // connections and requests that were turned away
  std::uint64_t parked = 0;   // sandboxes that wait for a program
};
template <typename Codec>
void carry(Codec& codec, ServiceStatus& value) {
  auto& [pid, uptime, size, running, waiting, served, refused, parked] = value;
  codec.all(pid, uptime, size, running, waiting, served, refused, parked);
}

}  // namespace cordon::app::pool

namespace cordon::app::service {

template <>
inline constexpr pool::Refused::Why kLast<pool::Refused::Why> = pool::Refused::Why::bad_message;

}  // namespace cordon::app::service
