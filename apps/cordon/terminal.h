// The command's own terminal.
#pragma once

#include <termios.h>

#include <optional>

#include "cordon/request.h"

namespace cordon::app {

[[nodiscard]] bool is_terminal(int fd);
// Empty when `fd` is no terminal or its size is not known.
[[nodiscard]] std::optional<TerminalSize> terminal_size(int fd);

// While it lives the terminal passes every key on as it is (raw mode); afterwards it is as before.
class RawTerminal {
 public:
  explicit RawTerminal(int fd);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

 private:
  int fd_;
  std::optional<termios> before_;
};

}  // namespace cordon::app
