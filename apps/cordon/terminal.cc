#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

namespace cordon::app {

bool is_terminal(int fd) { return ::isatty(fd) == 1; }

std::optional<TerminalSize> terminal_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return TerminalSize{.rows = size.ws_row, .columns = size.ws_col};
}

RawTerminal::RawTerminal(int fd) : fd_(fd) {
  termios settings{};
  if (::tcgetattr(fd_, &settings) != 0) return;
  before_ = settings;
  ::cfmakeraw(&settings);
  (void)::tcsetattr(fd_, TCSANOW, &settings);
}

RawTerminal::~RawTerminal() {
  if (!before_) return;
  // From the background this would stop us: the settings are to be put back all the same.
  sigset_t stop;
  sigset_t mask;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &stop, &mask);
  (void)::tcsetattr(fd_, TCSANOW, &*before_);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

}  // namespace cordon::app
