// One record of the log, and the line it is written as. Pure functions.
//
// The line is a JSON object in a fixed order that ends `…,"prev":"<64 digits>","hash":"<64
// digits>"}`: the seal is over every byte before `,"hash"`. So a line can be checked as the bytes
// it is, without asking how somebody else would have written the same JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "audit/seal.h"
#include "cordon/clock.h"

namespace cordon::audit {

enum class Operation : std::uint8_t {
  plan,
  start,
  signal,
  limit,
  denial,
  exit,
  cleanup,
  refused,
  call,      // a request to an MCP server
  sandbox,   // what was done to a long-lived sandbox, and in which one a program runs
  repaired,  // the remains of a writer that died were moved out of the way
  rotated,   // the log goes on in the next file
};
[[nodiscard]] std::string_view to_string(Operation operation);
[[nodiscard]] std::optional<Operation> operation_named(std::string_view name);

// The detail of the `start` of a run whose denials are going to be in its `exit`.
inline constexpr std::string_view kExplained = "explained";

// What a caller knows; sequence, time and seals come with the writing.
struct Entry {
  Operation operation = Operation::start;
  std::string run{};             // empty: about the log itself
  std::string policy_digest{};   // empty: null
  std::string request_digest{};  // empty: null
  std::string program{};
  std::string detail{};   // for people; empty: null
  std::string outcome{};  // JSON; empty: null
};

// Who writes.
struct Writer {
  std::uint32_t uid = 0;
  std::int64_t pid = 0;
};

// No line is longer: what could be is shortened when it is written.
inline constexpr std::size_t kLongestLine = std::size_t{256} * 1024;

// The line, with its newline. `hash` is set to its seal; it may be the same string as `prev`.
[[nodiscard]] std::string record_line(const Entry& entry, const Writer& writer,
                                      std::uint64_t sequence, WallTime time, const Sealer& sealer,
                                      const std::string& prev, std::string& hash);

// What holds the chain together, found in a line without its newline.
struct Link {
  std::uint64_t sequence = 0;
  std::string_view prev;
  std::string_view hash;
  bool keyed = false;
  std::string_view sealed;  // the bytes that `hash` is of
  bool rotated = false;     // the last record of its file
};
// Empty: not a record at all.
[[nodiscard]] std::optional<Link> read_link(std::string_view line);

}  // namespace cordon::audit
