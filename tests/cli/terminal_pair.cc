#include "terminal_pair.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <array>
#include <stdexcept>

namespace cordon::cli {

TerminalPair::TerminalPair(std::uint16_t rows, std::uint16_t columns) {
  int master = -1;
  int slave = -1;
  std::array<char, 128> name{};
  winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::openpty(&master, &slave, name.data(), nullptr, &size) != 0) {
    throw std::runtime_error("openpty");
  }
  master_ = base::Fd(master);
  slave_ = base::Fd(slave);
  path_ = name.data();
  ::fcntl(master, F_SETFD, FD_CLOEXEC);
  ::fcntl(slave, F_SETFD, FD_CLOEXEC);
}

void TerminalPair::resize(std::uint16_t rows, std::uint16_t columns) const {
  const winsize size{.ws_row = rows, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ::ioctl(slave_.get(), TIOCSWINSZ, &size);
}

termios TerminalPair::settings() const {
  termios settings{};
  ::tcgetattr(slave_.get(), &settings);
  return settings;
}

}  // namespace cordon::cli
