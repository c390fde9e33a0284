#include "supervise/stdio.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/errors.h"

namespace cordon::supervise {
namespace {

using base::fail_os;
using base::Fd;

constexpr const char* kNames[] = {"stdin", "stdout", "stderr"};

std::unexpected<Error> failed(const std::string& what) {
  const int error = errno;
  return fail_os("stdio", error,
                 what + (error == EMFILE ? " (raise the caller's RLIMIT_NOFILE)" : ""));
}

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) != -1; }

Result<void> use_null(Stdio& io, std::size_t index) {
  Fd& file = index == 0 ? io.owned[0] : io.null;
  if (!file) file = Fd(::open("/dev/null", (index == 0 ? O_RDONLY : O_WRONLY) | O_CLOEXEC));
  if (!file) return failed("opening /dev/null for " + std::string(kNames[index]));
  io.child[index] = file.get();
  return {};
}

Result<void> use_fd(Stdio& io, std::size_t index, int fd) {
  if (!is_open(fd)) {
    return fail_os("stdio", EBADF,
                   "using descriptor " + std::to_string(fd) + " as the program's " + kNames[index] +
                       " (give an open one)");
  }
  io.child[index] = fd;
  return {};
}

Result<void> use_pipe(Stdio& io, std::size_t index) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return failed("making a pipe for " + std::string(kNames[index]));
  }
  const bool input = index == 0;
  io.owned[index] = Fd(ends[input ? 0 : 1]);
  io.child[index] = io.owned[index].get();
  Fd ours = base::move_up(Fd(ends[input ? 1 : 0]));
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    return failed("making a pipe for " + std::string(kNames[index]));
  }
  (input ? io.stdin_writer : io.output[index - 1]) = std::move(ours);
  return {};
}

Result<void> use_terminal(Stdio& io, TerminalSize size) {
  Fd ours(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  char name[128] = {};
  if (!ours || ::grantpt(ours.get()) != 0 || ::unlockpt(ours.get()) != 0 ||
      ::ptsname_r(ours.get(), name, sizeof name) != 0) {
    return failed("making a terminal");
  }
  if (auto sized = resize(ours.get(), size); !sized) return sized;
  io.owned[0] = Fd(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (!io.owned[0]) return failed("opening the terminal " + std::string(name));
  io.child.fill(io.owned[0].get());

  ours = base::move_up(std::move(ours));
  io.stdin_writer = base::move_up(Fd(::fcntl(ours.get(), F_DUPFD_CLOEXEC, 3)));
  if (!io.stdin_writer || ::fcntl(ours.get(), F_SETFL, O_NONBLOCK | O_RDWR) != 0) {
    return failed("making a terminal");
  }
  io.output[0] = std::move(ours);
  return {};
}

// The streams that are descriptors of the caller. They are looked at before any other is opened:
// what we open may get the number of one that the caller had closed.
Result<void> borrow(Stdio& io, const Request& request) {
  struct Asked {
    bool inherited;
    bool given;
    int fd;
  };
  const auto asked = [](const auto& stream) {
    using Kind = decltype(stream.kind);
    return Asked{stream.kind == Kind::inherit, stream.kind == Kind::descriptor, stream.fd};
  };
  const std::array<Asked, 3> streams{asked(request.in), asked(request.out), asked(request.err)};
  for (std::size_t index = 0; index < streams.size(); ++index) {
    const int own = static_cast<int>(index);
    if (streams[index].inherited && is_open(own)) io.child[index] = own;
    if (!streams[index].given) continue;
    if (auto ok = use_fd(io, index, streams[index].fd); !ok) return ok;
  }
  return {};
}

Result<void> open_input(Stdio& io, const Input& input) {
  if (io.child[0] >= 0) return {};
  const bool piped = input.kind == Input::Kind::pipe || input.kind == Input::Kind::bytes;
  // Inherited, but the caller started with it closed: /dev/null, too.
  return piped ? use_pipe(io, 0) : use_null(io, 0);
}

Result<void> open_output(Stdio& io, std::size_t index, const Output& output) {
  if (io.child[index] >= 0) return {};
  return output.kind == Output::Kind::events ? use_pipe(io, index) : use_null(io, index);
}

}  // namespace

Result<Stdio> open_stdio(const Request& request) {
  Stdio io;
  if (request.terminal) {
    if (auto ok = use_terminal(io, *request.terminal); !ok) return std::unexpected(ok.error());
    return io;
  }
  if (auto ok = borrow(io, request); !ok) return std::unexpected(ok.error());
  if (auto ok = open_input(io, request.in); !ok) return std::unexpected(ok.error());
  if (auto ok = open_output(io, 1, request.out); !ok) return std::unexpected(ok.error());
  if (auto ok = open_output(io, 2, request.err); !ok) return std::unexpected(ok.error());
  return io;
}

Result<void> resize(int terminal, TerminalSize size) {
  const winsize window{.ws_row = size.rows, .ws_col = size.columns, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::ioctl(terminal, TIOCSWINSZ, &window) != 0) {
    return fail_os("terminal", errno, "setting the terminal's size");
  }
  return {};
}

}  // namespace cordon::supervise
