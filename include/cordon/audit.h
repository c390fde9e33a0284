// A record of every run that can be checked later: an append-only log of JSON lines, each of which
// carries the hash of the one before.
//
// One RunRecorder records one run. Several of them, in any number of threads and processes, may
// write to one directory at the same time. `cordon audit show` and `cordon audit verify` read it.
// What a record holds, and who could still forge one, is in docs/audit.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/outcome.h"
#include "cordon/plan.h"
#include "cordon/request.h"

namespace cordon::audit {

// What happens to a run whose record cannot be written.
enum class OnFailure : std::uint8_t {
  refuse,   // no record, no run
  proceed,  // it goes on without; RunRecorder::failure() tells
};

struct Settings {
  // Made, with its parents, if it is not there. It and everything above it must belong to root or
  // the caller, and no one else may write there (except in a sticky directory such as /tmp).
  std::string directory{};
  bool durable = false;  // every record is on the disk before it counts as written
  // At least 32 bytes that only their owner may read: records are then sealed with an HMAC, and who
  // has no key cannot forge them. Empty: plain hashes.
  std::string key_file{};
  std::uint64_t max_file_size = std::uint64_t{64} * 1024 * 1024;  // then the next file begins
  OnFailure on_failure = OnFailure::refuse;
  std::string policy_digest{};  // of the policy the run is under; empty: none
};

// One request of an MCP server's client, and what became of it. What was asked and answered is
// not in it.
struct Call {
  enum class End : std::uint8_t {
    ok,
    tool_error,      // the tool says that it failed
    protocol_error,  // the server answered with an error
    refused,         // by the policy: the server never saw it
    cancelled,       // by the client
    no_answer,       // until the end of the run
  };
  std::string method{};
  std::string tool{};  // of tools/call
  std::uint64_t request_bytes = 0;
  std::uint64_t response_bytes = 0;
  Duration duration{0};
  End end = End::ok;
};
[[nodiscard]] std::string_view to_string(Call::End end);

// Thread-safe. Every function returns once the record is written; after an error, nothing of it is.
// With OnFailure::proceed none of them fails, except open() for a log within the program's reach.
class RunRecorder {
 public:
  // Opens the log for one run. Errors: invalid_argument (settings), not_permitted (the directory is
  // not safe or not writable, or the program could write to it), system (the log was tampered with;
  // see the message).
  [[nodiscard]] static Result<RunRecorder> open(const Settings& settings, const Request& request,
                                                Clock& clock = real_clock());
  RunRecorder(RunRecorder&&) noexcept;
  RunRecorder& operator=(RunRecorder&&) noexcept;
  ~RunRecorder();

  // Unique among all runs of all processes: 32 hexadecimal digits.
  [[nodiscard]] const std::string& id() const;

  [[nodiscard]] Result<void> planned(const Plan& plan);
  // Call it before the program is started, and do not start it on error.
  [[nodiscard]] Result<void> started();
  // What is about to be done to the long-lived sandbox that the program is in; do not do it on
  // error.
  [[nodiscard]] Result<void> in_sandbox(const std::string& detail);
  // A signal that Cordon sends on behalf of its user.
  [[nodiscard]] Result<void> signalled(int signal);
  // Requests that a client made to the program, an MCP server; written at once.
  [[nodiscard]] Result<void> called(std::span<const Call> calls);
  // Limits that were hit, denials, and the end itself.
  [[nodiscard]] Result<void> ended(const Outcome& outcome);
  // Instead of started() and ended(): validation or the policy did not let it come to a start.
  [[nodiscard]] Result<void> refused(const Outcome& outcome);
  // Everything the run had is gone; or what is left, and why.
  [[nodiscard]] Result<void> cleaned_up(const std::string& detail);

  // The first error there was, with code and message; nullptr: none.
  [[nodiscard]] const Error* failure() const;

 private:
  struct State;
  explicit RunRecorder(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace cordon::audit
