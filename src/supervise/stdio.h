// The pipes, terminals and files behind a program's stdin, stdout and stderr.
#pragma once

#include <array>

#include "base/fd.h"
#include "cordon/error.h"
#include "cordon/request.h"

namespace cordon::supervise {

struct Stdio {
  // For the child, at most until it is launched: either owned here or the caller's own.
  std::array<int, 3> child{-1, -1, -1};
  std::array<base::Fd, 3> owned;
  base::Fd null;  // for both outputs, if they go nowhere
  // Ours, non-blocking; empty where the request says so.
  base::Fd stdin_writer;
  std::array<base::Fd, 2> output;
};

// Errors: resource_exhausted (out of descriptors), system.
[[nodiscard]] Result<Stdio> open_stdio(const Request& request);

[[nodiscard]] Result<void> resize(int terminal, TerminalSize size);

}  // namespace cordon::supervise
