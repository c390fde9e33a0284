// What the command and the supervisor of a sandbox say to each other.
//
//   command                    supervisor
//   hello                →                   who comes
//   one of:
//   exec (stdin)         →     started       a program runs inside; the connection is attached
//   connect              →     started       the same for one that runs already
//   logs                 →     started       the same, and nothing is taken from the command
//   list                 →     listed
//   stop                 →     done
//   checkpoint           →     progress …, done
//   remove               →     done
//
//   attached:
//                        ←     output …      first what was kept, then what comes
//   input                →     taken         one at a time
//   input_end, signal, terminate, resize  →
//                        ←     ended         with the whole outcome
//
// Whatever cannot be done is `refused` with the error. A command that goes away leaves its program
// as it is: that is how one detaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cordon/process.h"
#include "cordon/sandbox.h"
#include "service_carry.h"
#include "service_channel.h"

namespace cordon::app::sandbox {

enum class Kind : std::uint16_t {
  hello = 1,
  exec,
  connect,
  logs,
  list,
  stop,
  checkpoint,
  remove,
  input,
  input_end,
  signal,
  terminate,
  resize,
  refused,
  started,
  output,
  taken,
  ended,
  listed,
  progress,
  done,
};

inline constexpr service::Dialect kDialect{
    .name = "sandbox",
    .protocol = 2,
    .last_kind = static_cast<std::uint16_t>(Kind::done),
};
using Channel = service::ChannelOf<Kind, kDialect>;
using Message = service::MessageOf<Kind>;
using service::from_bytes;
using service::Signal;
using service::Stop;
using service::to_bytes;

struct Nothing {};
template <typename Codec>
void carry(Codec& /*codec*/, Nothing& /*value*/) {}

struct Hello {
  std::string version{};  // of Cordon
};
template <typename Codec>
void carry(Codec& codec, Hello& value) {
  auto& [version] = value;
  codec.all(version);
}

struct Size {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};
template <typename Codec>
void carry(Codec& codec, Size& value) {
  auto& [rows, columns] = value;
  codec.all(rows, columns);
}

struct Exec {
  Request request{};
  Duration timeout{0};
  Duration grace{0};
  std::optional<Size> terminal{};
  // Where its stdin comes from: the descriptor that comes along, or messages.
  bool relayed = false;
  std::uint64_t given = 0;  // so many of the request's variables were asked for; the rest are usual
  bool waits = true;        // who asks waits for its end, and records that
  std::string record{};     // its run in the audit log of who asks; empty: there is none
};
template <typename Codec>
void carry(Codec& codec, Exec& value) {
  auto& [request, timeout, grace, terminal, relayed, given, waits, record] = value;
  codec.all(request, timeout, grace, terminal, relayed, given, waits, record);
}

struct Connect {
  ProcessId process = 0;  // 0: the main program
  bool follow = true;     // logs: what comes, too
};
template <typename Codec>
void carry(Codec& codec, Connect& value) {
  auto& [process, follow] = value;
  codec.all(process, follow);
}

struct Checkpoint {
  std::string image{};
  bool leave_running = false;
};
template <typename Codec>
void carry(Codec& codec, Checkpoint& value) {
  auto& [image, leave_running] = value;
  codec.all(image, leave_running);
}

struct Started {
  ProcessId process = 0;
  bool terminal = false;
  bool relayed = false;  // takes input
};
template <typename Codec>
void carry(Codec& codec, Started& value) {
  auto& [process, terminal, relayed] = value;
  codec.all(process, terminal, relayed);
}

struct Output {
  bool err = false;
  std::uint64_t dropped = 0;  // bytes that are missing before this
  std::string data{};
};
template <typename Codec>
void carry(Codec& codec, Output& value) {
  auto& [err, dropped, data] = value;
  codec.all(err, dropped, data);
}

struct Row {
  ProcessId process = 0;  // its number; 0: the main program
  std::vector<std::string> command{};
  bool running = false;
  std::int64_t started = 0;  // nanoseconds since 1970
  std::optional<std::int64_t> pid{};
  std::optional<std::uint64_t> memory{};
  std::uint32_t attached = 0;  // commands
  std::uint64_t output = 0;    // bytes of it so far
  std::uint64_t dropped = 0;   // … that are not kept any more
  std::string outcome{};       // as JSON, once it has ended
};
template <typename Codec>
void carry(Codec& codec, Row& value) {
  auto& [process, command, running, started, pid, memory, attached, output, dropped, outcome] =
      value;
  codec.all(process, command, running, started, pid, memory, attached, output, dropped, outcome);
}

struct Listed {
  std::vector<Row> rows{};
};
template <typename Codec>
void carry(Codec& codec, Listed& value) {
  auto& [rows] = value;
  codec.all(rows);
}

struct Progress {
  std::uint64_t bytes = 0;
};
template <typename Codec>
void carry(Codec& codec, Progress& value) {
  auto& [bytes] = value;
  codec.all(bytes);
}

}  // namespace cordon::app::sandbox
