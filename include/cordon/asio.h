// Processes on a Boost.Asio event loop: co_await their events and their end.
//
//   asio::awaitable<void> show(std::shared_ptr<cordon::Process> process) {
//     cordon::EventStream events = process->events();
//     while (auto event = co_await cordon::async_next(events, asio::use_awaitable)) { … }
//   }
//
// Header-only, and the only public header that includes Boost. Both functions take any completion
// token. They return at once and never block the thread that runs the loop; one such thread serves
// thousands of processes. The handler runs through its associated executor, never from inside the
// call that began the operation. A plain function object has none: give it one with
// asio::bind_executor, or it runs on the system executor's threads.
//
// - Until it completes, an operation counts as outstanding work: io_context::run() goes on.
// - Cancellation (any type, through the associated slot) completes it with operation_aborted. A
//   cancelled async_next has taken no event; the process is not touched.
// - One operation at a time for each *process*: when a second one begins to wait, on this stream or
//   on another of the same process, the first completes with operation_aborted.
// - Destroying a stream of the process completes its operation with operation_aborted. Do not move
//   the stream while one is pending.
// - Destroying the execution context drops its pending operations, and their handlers with them, as
//   for Asio's own. Processes and Manager may live on.
// - On a process that has not been started it completes with the error ErrorCode::wrong_state.
//
// An asynchronous Process::write_stdin is missing: the interface has no way to be told that a
// program's stdin has room again. Process::start() is synchronous: it returns once the program's
// image has been loaded.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "cordon/detail/asio_operation.h"
#include "cordon/error.h"
#include "cordon/events.h"
#include "cordon/outcome.h"
#include "cordon/process.h"

namespace cordon {

// An ErrorCode as Asio's errors: `error == cordon::ErrorCode::wrong_state`. Never a success.
inline boost::system::error_code make_error_code(ErrorCode code) {
  return detail::error_code_of(code);
}

// Completes with the next event of `stream`, or with nothing after the exit event:
// `void(boost::system::error_code, std::optional<Event>)`. Errors: operation_aborted,
// wrong_state (not started).
//
// `stream` must not be used otherwise until then. Events that are at hand already cost one turn of
// the loop each, so that a program that floods its output does not keep others from theirs.
template <typename Token>
auto async_next(EventStream& stream, Token&& token) {  // NOLINT(*-missing-std-forward): Asio's way
  return boost::asio::async_initiate<Token, void(boost::system::error_code, std::optional<Event>)>(
      detail::Begin{}, token, detail::NextEvent{&stream});
}

// Completes with the outcome when the process has ended, or could not be started:
// `void(boost::system::error_code, Outcome)`. Errors: operation_aborted, wrong_state (not
// started).
//
// Unless the process has already ended, this attaches a reader that throws the output away: for
// programs whose output goes elsewhere or is not wanted. Whoever reads the events needs no
// async_wait: the last event brings the outcome. Keeps the process's handle until it completes.
template <typename Token>
auto async_wait(std::shared_ptr<Process> process, Token&& token) {  // NOLINT(*-missing-std-forward)
  return boost::asio::async_initiate<Token, void(boost::system::error_code, Outcome)>(
      detail::Begin{}, token, detail::End{std::move(process)});
}

}  // namespace cordon

template <>
struct boost::system::is_error_code_enum<cordon::ErrorCode> : std::true_type {};
