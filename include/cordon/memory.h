// Scripted programs in virtual time: the test double for code that manages processes.
//
// `memory::Manager` is a cordon::Manager that runs no real process and starts no thread or timer.
// A test registers a Program under a name, hands the manager to the code under test, and looks at
// what that code did. Verdicts, limits, the stop ladder, framing and overflow follow the same rules
// as on the OS. docs/testing-with-cordon.md shows how.
//
// Deterministic: used from one thread, the same script gives the same events with the same numbers
// and times; what is due at the same instant happens in the order it was scheduled.
//
// When programs run. start() puts a program at its first instruction. It goes on, as far as it can
// without time passing, whenever a caller waits (wait, next, write_stdin, sleep_until, advance) or
// acts (signal, terminate, kill, close_stdin); looking (running, status, list) changes nothing.
//
// When time moves. advance() moves it. Unless Options say otherwise it also moves by itself while
// a caller waits: when no program can go on it jumps to the next instant at which something is due,
// never beyond the caller's own deadline. If nothing will ever be due the caller blocks until
// another thread acts. An event loop waits elsewhere; notify() lets time pass for it, to the next
// instant at which a loop has something to do. Time does not jump past an instant at which another
// waiting thread has to wake, but it cannot know what a thread that is not waiting is going to do:
// a test with several threads says `self_advancing = false`, or gives its requests kNoTimeout so
// that no deadline is due while a thread gets ready.
//
// Everything here is thread-safe except building a Program. Functions given to a script run on the
// thread that waits or acts, with no lock held, and may call anything in this library; the program
// they belong to stands still meanwhile. One that throws makes its program die of SIGABRT.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/manager.h"

namespace cordon::memory {

class Self;
struct Step;      // one step of a script
struct Universe;  // what a manager shares with its processes

inline constexpr std::uint64_t kEndless = UINT64_MAX;

// What a program does, step by step; after the last step it exits with 0. A plain value: copies are
// independent and cheap. Each call appends a step and returns the program, so calls chain:
//
//   memory::Program().out("ready\n").sleep(2s).err("giving up\n").exit(3)
class Program {
 public:
  using Action = std::function<void(Self&)>;
  using Reader = std::function<void(Self&, std::string_view)>;

  // --- Output. Waits while the reader is behind and the request says Overflow::hold.
  Program& out(std::string bytes);  // to stdout
  Program& err(std::string bytes);  // to stderr
  // Writes `total` bytes in lines of 64 bytes, 64 KiB a millisecond.
  Program& flood(std::uint64_t total = kEndless);
  Program& flood_err(std::uint64_t total = kEndless);

  // --- Time.
  Program& sleep(Duration duration);
  Program& hang();  // never goes on; a signal still ends it

  // --- Input. `read` gets the bytes and may append what the program does next to Self.
  Program& read_line(Reader read);   // one line without its "\n"; not called at end of file
  Program& each_line(Reader read);   // until end of file
  Program& each_block(Reader read);  // the same with bytes as they arrive
  Program& echo();                   // stdin to stdout until end of file
  Program& drain_stdin();            // reads until end of file
  Program& close_stdin();            // write_stdin() then fails with `closed`

  // --- The end.
  Program& exit(int code);
  Program& die(int signal);  // of that signal's default action, whatever was said about it before
  // start() fails with this errno at stage "exec", or with this error; the program never runs.
  Program& fail_start(int os_error);
  Program& fail_start(Error error);

  // --- Signals, from this step on. SIGKILL and SIGSTOP cannot be changed.
  Program& ignore(int signal);
  Program& default_action(int signal);
  Program& on_signal(int signal, int exit_code);
  // Does `steps`, then goes on with what was interrupted.
  Program& on_signal(int signal, Program steps);

  // --- Descendants: programs of the same process, sharing its streams. They inherit ignored
  // signals, go on beside their parent, and are killed when the process ends. A fork beyond
  // Limits::processes fails: it is listed in limits_hit and `refused` is done instead.
  Program& fork(Program child);
  Program& fork(std::uint64_t count, Program child, Program refused);
  Program& wait_children();  // until every program this one forked has ended

  // --- Resources, kept within the process's Limits.
  // Takes that much processor time, and wall-clock time according to Limits::cpu_millicores (one
  // core at most). When all programs of the process together reach Limits::cpu_time it is killed.
  Program& use_cpu(Duration user, Duration system = Duration{0});
  // Has that many bytes in use from now on. Beyond Limits::memory_bytes the process is killed.
  Program& use_memory(std::uint64_t bytes);
  // Writes a file of that size. Beyond Limits::file_size_bytes: SIGXFSZ.
  Program& write_file(std::uint64_t bytes);
  // Opens that many files. Beyond Limits::open_files it fails: listed, and `refused` is done.
  Program& open_files(std::uint64_t count);
  Program& open_files(std::uint64_t count, Program refused);

  // --- Composition.
  Program& then(Program steps);
  Program& repeat(std::uint64_t times, Program steps);
  // A round that takes no time takes a millisecond.
  Program& forever(Program steps);
  // Calls `action`, which may look at the process and append to Self what comes next.
  Program& step(Action action);

  [[nodiscard]] const std::vector<std::shared_ptr<const Step>>& steps() const { return steps_; }
  [[nodiscard]] const std::optional<Error>& start_error() const { return start_error_; }

 private:
  Program& add(Step step);

  std::vector<std::shared_ptr<const Step>> steps_;
  std::optional<Error> start_error_;
};

// The running program, as a function in its script sees it. It is a Program to append to: what is
// appended is done next, before the script goes on. Valid during the call only.
class Self : public Program {
 public:
  struct Facts {
    const Request& request;
    Limits limits;
    std::optional<TerminalSize> terminal;  // as resized last
    Duration elapsed{0};                   // since the process started
    std::int64_t pid = 0;
  };
  explicit Self(Facts facts) : facts_(std::move(facts)) {}

  [[nodiscard]] const Request& request() const { return facts_.request; }
  [[nodiscard]] const std::vector<std::string>& args() const { return facts_.request.args; }
  [[nodiscard]] const Limits& limits() const { return facts_.limits; }
  [[nodiscard]] std::optional<TerminalSize> terminal() const { return facts_.terminal; }
  [[nodiscard]] Duration elapsed() const { return facts_.elapsed; }
  [[nodiscard]] std::int64_t pid() const { return facts_.pid; }

 private:
  Facts facts_;
};

// Begins at zero; `wall_now` begins at Options::start.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(Universe& universe) : universe_(universe) {}
  [[nodiscard]] TimePoint now() const override;
  [[nodiscard]] WallTime wall_now() const override;
  void sleep_until(TimePoint until) override;

 private:
  Universe& universe_;
};

struct Options {
  WallTime start = WallTime(std::chrono::seconds(1'700'000'000));  // 2023-11-14 22:13:20 UTC
  bool self_advancing = true;  // whether time moves by itself while a caller waits
};

class Manager final : public cordon::Manager {
 public:
  explicit Manager(Options options = {});
  ~Manager() override;

  // What a request for exactly this `name` runs from now on. A program that was not added is not
  // there: start() fails with not_found.
  void add(std::string name, Program program);
  // The first start runs the first one, and so on; the last one stays. Must not be empty.
  void add_sequence(std::string name, std::vector<Program> programs);

  // Moves time on by `duration`, doing all that is due on the way. Zero: what can be done now.
  void advance(Duration duration);
  // Moves time to the next instant at which something is due, and does it. False: nothing is.
  bool advance_to_next();

  // Programs alive now, descendants included.
  [[nodiscard]] std::size_t live_programs() const;

  using cordon::Manager::create;
  [[nodiscard]] Result<std::shared_ptr<Process>> create(Request request) override;
  [[nodiscard]] Result<Plan> plan(const Request& request) const override;
  [[nodiscard]] Result<std::shared_ptr<Process>> get(ProcessId id) const override;
  [[nodiscard]] std::vector<std::shared_ptr<Process>> list() const override;
  [[nodiscard]] Result<void> set_default_limits(const Limits& limits) override;
  [[nodiscard]] Limits default_limits() const override;
  [[nodiscard]] Capabilities capabilities() const override;
  [[nodiscard]] VirtualClock& clock() override;

 private:
  std::shared_ptr<Universe> universe_;
};

}  // namespace cordon::memory
