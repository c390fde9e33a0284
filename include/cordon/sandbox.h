// Sandbox: a place to run programs in.
//
// One-shot: run() and execute(program, args) isolate each run afresh, and leave nothing behind.
//
// Long-lived: create() starts the request's program, the main one; execute() starts others beside
// it, behind the same isolation, until the main one ends. What is possible when is one table
// (docs/sandboxes.md): an operation that is not possible now is refused with wrong_state, and the
// message names the state, the operation and what is possible instead. States:
//
//   initialized ── create, restore ──► running ── stop, end of main ──► stopped
//                        │                │ └──── checkpoint ────────► checkpointed
//                        └───► failed ◄───┘       (remove: from any state)
//
// All methods are thread-safe. One change at a time: create, restore, checkpoint and remove wait
// for each other and for programs that are being started, and those for them; then the table judges
// by the state that is found. Who only looks (state, main, processes …) never waits. A call to its
// own sandbox from inside a change, as from CheckpointOptions::progress, is refused if it would
// have to wait for itself.
//
// Destroying a Sandbox ends everything inside and removes what was kept for it, but no image.
// Handles of its processes stay good for asking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/audit.h"
#include "cordon/clock.h"
#include "cordon/error.h"
#include "cordon/manager.h"
#include "cordon/outcome.h"
#include "cordon/process.h"
#include "cordon/request.h"
#include "cordon/run.h"

namespace cordon {

enum class SandboxState : std::uint8_t { initialized, running, checkpointed, stopped, failed };
// The name used in JSON and messages, e.g. "running".
[[nodiscard]] std::string_view to_string(SandboxState state);

// Whether `id` may name a sandbox: 1 to 64 of a–z, 0–9, ".", "_", "-", the first one a letter or
// digit. Error: invalid_argument, which says what is wrong with it.
[[nodiscard]] Result<void> validate_sandbox_id(std::string_view id);

struct SandboxOptions {
  std::string id;                 // its user's name for it; see validate_sandbox_id()
  std::string backend = "linux";  // "linux", "gvisor"
  // A directory for what is kept while the sandbox lives, made with mode 0700 if it is missing.
  // Empty: one of its own below default_cache(). remove() takes away what the sandbox put there,
  // and the directory itself if nothing else is in it.
  std::filesystem::path state{};
  // The record of the main program, of those executed, and of what was done to the sandbox; empty:
  // none. What cannot be recorded is not done. Ends are recorded with the next operation, at the
  // latest when the sandbox is removed.
  std::optional<audit::Settings> audit{};
};

struct CheckpointOptions {
  bool leave_running = false;  // unsupported, where the engine cannot
  std::function<void(std::uint64_t written_bytes)> progress{};  // called now and then
};

class Sandbox {
 public:
  // On a Manager of the caller's, which has to outlive the sandbox: a memory::Manager in tests.
  // The first one has no id, so it cannot be created: it is for one-shot runs.
  Sandbox(Manager& manager, Request request);
  // Long-lived: main and executed programs are processes of `manager`, which must be a
  // memory::Manager (or something around one): create() refuses others, where each process would
  // be a sandbox of its own.
  Sandbox(Manager& manager, Request request, std::string id);

  // One-shot, on an os_manager() of its own. Errors: those of os_manager(), and those of validate()
  // for everything but the program, which may still be missing.
  [[nodiscard]] static Result<Sandbox> make(Request request = {});
  // Long-lived, by an engine of this OS. Nothing is started or written yet. Errors:
  // invalid_argument (request, id, no such backend), unsupported (not on this host; the message
  // says what is missing).
  [[nodiscard]] static Result<Sandbox> make(Request request, SandboxOptions options);

  ~Sandbox();
  Sandbox(Sandbox&&) noexcept;
  Sandbox& operator=(Sandbox&&) noexcept;

  // Runs the request's program, afresh. Never fails; see cordon::run(). For a sandbox on a Manager
  // that has not been created; for another the outcome is failed_to_start.
  [[nodiscard]] Outcome run();
  // Runs this one instead, under the same request; in a sandbox that was created, inside it.
  [[nodiscard]] Outcome execute(std::string program, std::vector<std::string> args = {});

  // What it was made with; empty for one-shot ones.
  [[nodiscard]] const std::string& sandbox_id() const;
  // Of its present or last life: new at every create() and restore(), never reused; empty before.
  [[nodiscard]] std::string container_id() const;
  [[nodiscard]] SandboxState state() const;
  // Why it failed; empty unless the state is `failed`.
  [[nodiscard]] std::string failure() const;

  // initialized → running: the main program has been started. It has no timeout unless the request
  // says so. Any error: → failed.
  [[nodiscard]] Result<void> create();
  // The same from an image that checkpoint() wrote for the same id and request, by this object's
  // engine: the programs go on where they were. Errors that change nothing: not_found (no such
  // directory), unsupported (the engine cannot). Any other: → failed.
  [[nodiscard]] Result<void> restore(const std::filesystem::path& image);

  // running: starts a program inside, as restricted as the main one; limits left open are the main
  // program's. Errors: those of Manager::create() and Process::start(); not_permitted (asks for
  // more than the sandbox has). The sandbox goes on.
  [[nodiscard]] Result<std::shared_ptr<Process>> execute(Request request);
  // running: a process of it that runs. Error: not_found.
  [[nodiscard]] Result<std::shared_ptr<Process>> connect(ProcessId id);
  // running: to the main program; see Process::write_stdin(). Waiting for a checkpoint to be over
  // is part of `patience`.
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view data,
                                                Duration patience = kNoTimeout);
  // running → checkpointed, or running if asked for: everything inside is in the directory `image`,
  // which must not exist yet or be empty. Any error: there is no image, and the sandbox goes on if
  // it can. Errors: unsupported, invalid_argument, those of the disk.
  [[nodiscard]] Result<void> checkpoint(const std::filesystem::path& image,
                                        CheckpointOptions options = {});
  // running → stopped: ends the main program (SIGTERM, after `grace` SIGKILL) and with it
  // everything inside, and waits for that. While it does, nothing new is started inside. No error
  // when it is stopped already.
  [[nodiscard]] Result<void> stop(Duration grace);
  // From any state, any number of times: ends everything inside at once, and what was kept is gone.
  // From the call on nothing else is possible; the state is `stopped` afterwards. Errors: those of
  // the disk; try again.
  [[nodiscard]] Result<void> remove();

  // The main program; null before create() and restore(). Stays when it has ended.
  [[nodiscard]] std::shared_ptr<Process> main() const;
  // In any state: the main program first, then those executed that run or that somebody holds.
  [[nodiscard]] std::vector<std::shared_ptr<Process>> processes() const;

  [[nodiscard]] const Request& request() const;
  // The one it was made on. For a sandbox of an engine: a Manager whose create() makes processes
  // inside it, for code that is written against Manager; it lives as long as the sandbox.
  [[nodiscard]] Manager& manager();

 private:
  class Impl;
  explicit Sandbox(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace cordon
