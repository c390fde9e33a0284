// The processes of one sandbox: init and the program, children of this process.
#pragma once

#include <sys/types.h>

#include <optional>

#include "base/fd.h"
#include "cordon/clock.h"

namespace cordon::linux_backend {

struct ProgramEnd {
  int exit_code = 0;
  int signal = 0;
  bool status_lost = false;
  Duration cpu_user{0};  // of the program and the children it has waited for
  Duration cpu_system{0};
  std::uint64_t memory_peak_bytes = 0;
};

// Used by one thread at a time. Destroyed, it kills and reaps everything inside.
class Sandbox {
 public:
  Sandbox() = default;
  ~Sandbox();
  Sandbox(Sandbox&& other) noexcept;
  Sandbox& operator=(Sandbox&& other) noexcept;

  // Takes over a process that was reported. The set-up process leads a process group, in which the
  // others are until they are reported.
  void set_setup(pid_t pid);
  void set_init(pid_t pid) { init_ = pid; }
  void set_program(pid_t pid);
  // The program is a nursery: what it made and nobody heard of is in its process group.
  void set_nursery() { nursery_ = true; }
  // Readable once the set-up process has ended; -1: not known, or seen to have ended well.
  [[nodiscard]] int setup_fd() const { return setup_fd_.get(); }
  // Whether it has ended as it should.
  [[nodiscard]] bool setup_done();
  // Waits for the set-up process, which ends by itself.
  void reap_setup();

  [[nodiscard]] pid_t init() const { return init_; }
  [[nodiscard]] pid_t program() const { return program_; }
  // Readable once it has ended; -1: it cannot be watched, because of watch_error().
  [[nodiscard]] int program_fd() const { return program_fd_.get(); }
  [[nodiscard]] int watch_error() const { return watch_error_; }

  // Whether it has ended, whether or not it ever was a program.
  [[nodiscard]] bool program_ended() const;
  // Whether it is a program, as far as is known, and not one that ended before it was.
  [[nodiscard]] bool executed() const;

  // SIGKILL to everything inside: with its init, a pid namespace ends.
  void kill();
  // Whether the program has waited for a child, or has left one running; in doubt it has. Other
  // children, and threads, leave no trace. To be asked when it has ended.
  [[nodiscard]] bool had_children() const;
  // How the program has ended; nothing while it runs. What else is inside goes on. It stays a
  // zombie until end(): the kernel takes some time to forget a process.
  [[nodiscard]] std::optional<ProgramEnd> program_end();
  // Whether init has no children, as far as the kernel tells: in doubt it has.
  [[nodiscard]] bool init_is_alone() const;
  // Kills and reaps everything.
  void end();

 private:
  pid_t setup_ = -1;
  pid_t init_ = -1;
  pid_t program_ = -1;
  base::Fd setup_fd_;
  base::Fd program_fd_;
  int watch_error_ = 0;
  bool seen_ended_ = false;  // the program
  bool nursery_ = false;
};

}  // namespace cordon::linux_backend
