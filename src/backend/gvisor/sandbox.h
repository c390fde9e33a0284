// One sandbox of gVisor: a `runsc run` or `runsc restore` that stays in the foreground, and what
// belongs to it: the sandbox's and the gofer's process, the control group, the private directory.
//
// Destroyed, it ends everything inside. Thread-safe, except start().
#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gvisor/command.h"
#include "backend/gvisor/image_files.h"
#include "backend/gvisor/run_directory.h"
#include "backend/gvisor/runsc.h"
#include "backend/gvisor/threads.h"
#include "backend/linux/cgroup.h"
#include "base/fd.h"
#include "cordon/error.h"

namespace cordon::gvisor_backend {

// What runsc keeps about a container.
struct ContainerState {
  std::string status{};  // "created", "running", "stopped"
  pid_t sandbox = -1;
  pid_t gofer = -1;
};
// From its file; empty: that is none, or not whole.
[[nodiscard]] std::optional<ContainerState> parse_state(std::string_view text);

class Sandbox {
 public:
  struct Ask {
    Runsc runsc;
    RunDirectory directory;                        // with a bundle in it
    std::string id;                                // runsc's name for it, unique on the host
    std::unique_ptr<linux_backend::Cgroup> group;  // null: none
    std::shared_ptr<const OpenImage> image{};      // restored from it; null: it begins anew
    std::vector<Mount> mounts{};                   // for runsc alone
    int stdio[3];
    Duration patience;  // for it to begin
  };

  // Returns when the program has begun, or has ended already. An image is verified while runsc
  // starts, and before runsc opens it. `threads` live longer. Error: in
  // runsc's own words what kept it from beginning; nothing is left then.
  [[nodiscard]] static Result<std::shared_ptr<Sandbox>> start(Threads& threads, Ask ask);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const Runsc& runsc() const { return runsc_; }
  [[nodiscard]] const RunDirectory& directory() const { return directory_; }
  [[nodiscard]] linux_backend::Cgroup* group() const { return group_.get(); }
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The process that is gVisor's kernel; -1: it had ended when it was looked for.
  [[nodiscard]] pid_t kernel_pid() const { return kernel_pid_; }
  [[nodiscard]] int exit_fd() const { return pidfd_.get(); }

  // Kills everything of it at once.
  void kill();
  // The status as of reap() in command.h, once it has ended and everything inside has. Reaps it.
  struct End {
    int code = 0;         // of runsc: the program's own, or 128 + n
    bool killed = false;  // runsc itself was, by the signal code - 128
    bool checkpointed = false;
    Duration cpu_user{0};  // of runsc, and what it has waited for: the sandbox, the gofer
    Duration cpu_system{0};
    std::string error{};  // what runsc says went wrong; empty: nothing
  };
  [[nodiscard]] std::optional<End> ended();

  [[nodiscard]] bool running() const;
  // Why it has ended, if neither the program nor we ended it; else empty. Known once ended() is.
  [[nodiscard]] std::string failure();
  // From now on its end is that of its life here, not the program's.
  void begin_checkpoint() { checkpointed_ = true; }
  void fail_checkpoint() { checkpointed_ = false; }
  [[nodiscard]] bool checkpointed() const { return checkpointed_; }

  // `runsc WORDS… ID REST…` for this container. Not in its group, in which there may be no room;
  // `tick` is called now and then while it lasts.
  [[nodiscard]] Result<Finished> command(std::vector<std::string> words, Duration patience,
                                         std::vector<std::string> rest = {},
                                         const std::function<void()>& tick = {}) const;
  // The command line of such a call, with its messages in the file `log`.
  [[nodiscard]] std::vector<std::string> command_line(std::vector<std::string> words,
                                                      const std::string& log) const;

 private:
  Sandbox() = default;
  [[nodiscard]] Result<void> prepare_group();
  [[nodiscard]] Result<Start> prepare_start(const Ask& ask) const;
  [[nodiscard]] Result<void> wait_until_begun(int watch, TimePoint until);
  [[nodiscard]] Result<bool> has_begun();
  [[nodiscard]] Result<void> check_groups(const ContainerState& state) const;
  [[nodiscard]] std::string said() const;

  Runsc runsc_;
  RunDirectory directory_;
  std::string id_;
  std::unique_ptr<linux_backend::Cgroup> group_;
  base::Fd procs_;  // cgroup.procs, on v2
  std::vector<int> join_;
  pid_t pid_ = -1;
  base::Fd pidfd_;
  pid_t kernel_pid_ = -1;
  base::Fd sandbox_;  // pidfds, for where there is no group
  base::Fd gofer_;
  std::atomic<bool> checkpointed_ = false;
  bool killed_ = false;  // by us, before it had ended
  std::mutex mutex_;
  std::optional<End> end_;
};

}  // namespace cordon::gvisor_backend
