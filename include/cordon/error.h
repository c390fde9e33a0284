// What can go wrong while managing processes.
//
// Every fallible call of the library returns `Result<T>`; no exception crosses a public header. An
// Error says what was tried, on what, why it failed and what to do about it. A program that ends
// badly is not an Error: it is an Outcome (see outcome.h).
//
// Plain values: copy and share them freely between threads.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace cordon {

enum class ErrorCode : std::uint8_t {
  invalid_argument,    // the request itself is wrong; nothing was tried
  not_found,           // no such program, directory or process id
  not_executable,      // the program exists, but the OS will not execute it
  not_permitted,       // the OS or the policy refuses it to this caller
  unsupported,         // this backend or this OS cannot do it
  wrong_state,         // not started yet, already started, or already ended
  closed,              // the program's stdin is closed
  timed_out,           // the time given to this call is over; the process goes on
  limit_not_applied,   // a limit could not be set, so the program did not run
  resource_exhausted,  // out of descriptors, processes or memory; worth trying later
  system,              // any other failure of the OS; see os_error
};

// The name used in JSON and messages, e.g. "not_found".
[[nodiscard]] std::string_view to_string(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::system;
  std::string stage;    // the step that failed: "validate", "chdir", "exec", "limit:memory" …
  int os_error = 0;     // errno, or 0 when the OS was not involved
  std::string message;  // one sentence for a person, ending with what to do
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace cordon
