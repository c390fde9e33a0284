// Process: one program, from creation to its outcome.
//
// The same interface for every backend (C82): real processes, sandboxes and in-memory ones. Made by
// a Manager. All methods are thread-safe; wait() never holds up signal(). A process ends when its
// program ends; whatever the program left running is killed then, as far as the backend can reach
// it. Dropping the last handle of a running process does not end it: its Manager keeps it until it
// ends, and ends it when the Manager itself goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/events.h"
#include "cordon/limits.h"
#include "cordon/outcome.h"
#include "cordon/request.h"

namespace cordon {

// A never-reused handle, unique within one Manager; not the OS's pid.
using ProcessId = std::uint64_t;

// A look at a process (C110–C113). Figures that the backend cannot tell are empty.
struct Status {
  ProcessId id = 0;
  std::optional<std::int64_t> os_pid;  // while it runs
  bool running = false;
  std::optional<int> exit_code;        // once it has exited
  std::optional<WallTime> start_time;  // once it was started
  std::optional<double> cpu_percent;   // since the last status() call; 100 = one core
  std::optional<std::uint64_t> memory_bytes;
  std::optional<std::uint64_t> memory_anonymous_bytes;  // of those; the rest is page cache
};

// Whom a signal is for.
enum class Reach : std::uint8_t { program, tree };

class Process {
 public:
  virtual ~Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Success: every limit is in place and the program's first instruction is next or past.
  // Failure: the program did not run, nothing is left behind, outcome() is failed_to_start.
  // Errors to act on: not_found, not_executable, limit_not_applied, resource_exhausted,
  // wrong_state (already started).
  [[nodiscard]] virtual Result<void> start() = 0;

  // Waits for the end. Error: wrong_state (not started).
  [[nodiscard]] virtual Result<Outcome> wait() = 0;
  // The same for at most `patience`; then the error is timed_out and the process goes on.
  [[nodiscard]] virtual Result<Outcome> wait_for(Duration patience) = 0;

  // Sends `signal` to the program, or to everything it started too, as a terminal's Ctrl-C does.
  // Errors: wrong_state (not started, or ended: a signal is never sent once the process has been
  // reaped), invalid_argument (no such signal).
  [[nodiscard]] virtual Result<void> signal(int signal, Reach reach) = 0;
  [[nodiscard]] Result<void> signal(int number) { return signal(number, Reach::program); }
  // Ends the whole tree: SIGTERM, up to `grace` later SIGKILL. Returns at once; the verdict is
  // `cancelled` unless something else had already ended the run. Errors as for signal().
  [[nodiscard]] virtual Result<void> terminate(Duration grace) = 0;
  // Ends the whole tree now. Otherwise as terminate().
  [[nodiscard]] virtual Result<void> kill() = 0;

  // Replace what the request said. Error: wrong_state (started).
  [[nodiscard]] virtual Result<void> set_stdin(Input input) = 0;
  [[nodiscard]] virtual Result<void> set_stdout(Output output) = 0;
  [[nodiscard]] virtual Result<void> set_stderr(Output output) = 0;
  [[nodiscard]] virtual Result<void> set_limits(const Limits& limits) = 0;
  [[nodiscard]] virtual Limits limits() const = 0;

  // For Input::pipe. Writes all of `data`, waiting up to `patience` for a program that is slow to
  // read; returns the bytes written, fewer than asked only when patience ran out. Error: closed
  // (the program or close_stdin() closed it), wrong_state. Never raises SIGPIPE.
  [[nodiscard]] virtual Result<std::size_t> write_stdin(std::string_view data,
                                                        Duration patience) = 0;
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data) {
    return write_stdin(data, kNoTimeout);
  }
  // The program sees end of file. Closing twice is no error.
  [[nodiscard]] virtual Result<void> close_stdin() = 0;

  // For Request::terminal: tells the program about a new window size. Error: wrong_state.
  [[nodiscard]] virtual Result<void> resize_terminal(TerminalSize size) = 0;

  [[nodiscard]] virtual ProcessId id() const = 0;
  [[nodiscard]] virtual std::optional<std::int64_t> os_pid() const = 0;  // empty unless running
  [[nodiscard]] virtual bool running() const = 0;
  [[nodiscard]] virtual std::optional<int> exit_code() const = 0;  // once it has exited
  [[nodiscard]] virtual Status status() = 0;

  // Attaches a reader; see events.h. May be called before start().
  [[nodiscard]] virtual EventStream events() = 0;
  // Empty until the end.
  [[nodiscard]] virtual std::optional<Outcome> outcome() const = 0;

 protected:
  Process() = default;
};

}  // namespace cordon
