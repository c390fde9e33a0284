// Request: the only input type. What to run, and what it asks for.
//
// Plain data: fill in the fields, hand it to `Manager::create` or `cordon::run`. Nothing is read
// from the caller's surroundings except the environment variables named by `env_pass`.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/isolation.h"
#include "cordon/limits.h"
#include "cordon/secret.h"
#include "cordon/tenant.h"

namespace cordon {

// How a stream of bytes is cut into events.
enum class OutputMode : std::uint8_t {
  raw,      // as it arrives
  line,     // one event a line, without its "\n" or "\r\n"
  json,     // one event a JSON value; anything else is an event marked `invalid`
  chunked,  // exactly `chunk_size` bytes an event; the last one may be shorter
};

struct Framing {
  OutputMode mode = OutputMode::raw;
  std::uint32_t chunk_size = 64 * 1024;
  // Longest line or JSON value. A longer line comes in parts marked `partial`; a longer JSON value
  // is `invalid`.
  std::uint32_t max_frame = 1024 * 1024;
  std::uint16_t max_depth = 64;  // nesting of JSON values

  friend bool operator==(const Framing&, const Framing&) = default;
};

// Where the program's stdin comes from.
struct Input {
  enum class Kind : std::uint8_t { none, inherit, descriptor, pipe, bytes };
  Kind kind = Kind::none;
  int fd = -1;         // descriptor: borrowed until start() returns
  std::string data{};  // bytes: given to the program, then end of file

  static Input none() { return {}; }                          // empty input
  static Input inherit() { return {.kind = Kind::inherit}; }  // the caller's own stdin
  static Input from_fd(int fd) { return {.kind = Kind::descriptor, .fd = fd}; }
  static Input pipe() { return {.kind = Kind::pipe}; }  // Process::write_stdin
  static Input bytes(std::string data) { return {.kind = Kind::bytes, .data = std::move(data)}; }
};

// Where the program's stdout or stderr goes.
struct Output {
  enum class Kind : std::uint8_t { events, inherit, descriptor, discard };
  Kind kind = Kind::events;
  int fd = -1;        // descriptor: borrowed until start() returns
  Framing framing{};  // events: how the bytes are cut

  static Output events(Framing framing = {}) { return {.framing = framing}; }
  static Output inherit() { return {.kind = Kind::inherit}; }
  static Output to_fd(int fd) { return {.kind = Kind::descriptor, .fd = fd}; }
  static Output discard() { return {.kind = Kind::discard}; }
};

// What happens when the program writes faster than its events are read.
enum class Overflow : std::uint8_t {
  hold,         // the program waits in its write()
  drop_oldest,  // the oldest events are dropped and counted
  end_run,      // the run ends with verdict `output`
};

struct TerminalSize {
  std::uint16_t rows = 24;
  std::uint16_t columns = 80;
};

struct EnvVar {
  std::string name{};
  std::string value{};
};

// A file that was looked at and found right: what is behind `fd` is what the program finds at
// `path`, whatever is put in that place on the host meanwhile.
struct Pin {
  std::string path{};  // on the host and inside: absolute, without links. If it is the program, it
                       // is executed as it is: no script, name its interpreter instead
  int fd = -1;         // borrowed until start() returns; O_PATH is enough
};

inline constexpr Duration kDefaultTimeout = std::chrono::minutes(5);
inline constexpr Duration kDefaultGrace = std::chrono::seconds(5);
inline constexpr Duration kNoTimeout = Duration::max();

// The caller's variables that a program sees unless the request says otherwise.
[[nodiscard]] std::vector<std::string> default_env_pass();

struct Request {
  std::string program{};            // a path, or a name looked up in the PATH the program will see
  std::vector<std::string> args{};  // without the program's own name; never seen by a shell
  std::string argv0{};              // what the program is told as its own name; empty: `program`
  std::string cwd{};                // empty: the caller's. A relative `program` is relative to this

  std::vector<EnvVar> env{};                               // set, in addition to …
  std::vector<std::string> env_pass = default_env_pass();  // … the caller's, by name or glob

  std::vector<Secret> secrets{};  // for the program alone; a process lets go of them at its start

  Input in{};
  Output out{};
  Output err{};
  // Gives the program a terminal of its own: `in` must be a pipe and `out` events; stderr is the
  // terminal too, so everything arrives as stdout.
  std::optional<TerminalSize> terminal{};

  Duration timeout{0};             // 0: kDefaultTimeout. kNoTimeout: none
  Duration grace = kDefaultGrace;  // between SIGTERM and SIGKILL
  std::stop_token cancel{};        // ends the run with verdict `cancelled`

  Limits limits{};
  bool end_at_process_limit = false;  // else fork fails inside, and the run goes on
  std::string cgroup_parent{};        // of the run's control group; empty: below the caller's own

  // For backends that isolate; the others refuse what they cannot give.
  // A directory of the host, read-only, that is the program's root in place of the host's system
  // directories; absolute. `program` and `cwd` are then names in it (cwd empty: "/"), and of the
  // host nothing is shown but what `grants` name. Empty: the host's system directories.
  std::string root{};
  std::vector<Grant> grants{};  // besides the system's directories and the working directory
  std::vector<Pin> pins{};  // exactly these files at their places: what was checked is what runs
  // The sources of grants, and `cwd`, have no symbolic links in them: one that is there now was put
  // there after they were looked at, and is an error instead of being followed.
  bool links_resolved = false;
  Network network = Network::none;
  bool unix_sockets = true;    // false: only socketpair(), so no socket below a grant is reachable
  std::optional<User> user{};  // none: the caller, or for root an unprivileged id of the run's own

  // Reports in Outcome::denials what the program was refused. Costs some microseconds for each
  // system call that names a file; decides nothing.
  bool explain = false;

  // Whose earlier runs may have left something that this one uses again, where there is a pool
  // (pool.h). None: everything is this run's own. Outcome::launch says what came of it.
  std::optional<Tenant> reuse{};

  std::uint32_t event_buffer = 1024 * 1024;  // bytes of output kept for a reader
  Overflow overflow = Overflow::hold;
};

// Refuses what cannot be run on any backend, naming the field. Touches nothing.
[[nodiscard]] Result<void> validate(const Request& request);

// "64M", "1G", "4096" → bytes (binary multiples; K, M, G, T).
[[nodiscard]] Result<std::uint64_t> parse_size(std::string_view text);
// "250ms", "5s", "2m", "1h", "1.5s" → duration. A bare number is refused: it has no unit.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

}  // namespace cordon
