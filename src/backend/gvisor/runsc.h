// The runsc of this host: where it is, which it is, and what it can do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"

namespace cordon::gvisor_backend {

struct Runsc {
  std::string path{};      // absolute; nobody but root and the caller can replace it
  std::string version{};   // "0.0~20221219.0"
  std::string platform{};  // "ptrace"; empty: its own choice
  bool rootless = false;   // the caller is an ordinary user
  bool pins = false;       // what is shown can be mounted for it: the caller is root
  bool filters = false;    // it can filter the program's system calls (--oci-seccomp)

  // Why it cannot write images that it could restore; empty: it can.
  [[nodiscard]] std::string no_checkpoint() const;

  // The command line up to the subcommand, for containers whose state is in `state`, and messages
  // in the file `log`.
  [[nodiscard]] std::vector<std::string> command(const std::string& state,
                                                 const std::string& log) const;
};

// Error: unsupported; the message says how to install it, or what is wrong with it.
[[nodiscard]] Result<Runsc> find_runsc();

// The parts of it, for tests.
// The first runsc in the directories of `path` that is an executable file which only root and the
// caller can change.
[[nodiscard]] Result<std::string> find_binary(std::string_view path);
// From what `runsc --version` says; empty: that is not runsc.
[[nodiscard]] std::string parse_version(std::string_view text);
// From what `runsc flags` says.
[[nodiscard]] std::string choose_platform(std::string_view flags);

// The last thing that runsc said went wrong, from its log (JSON lines) or else its stderr.
[[nodiscard]] std::string last_error(std::string_view log, std::string_view err = {});

}  // namespace cordon::gvisor_backend
