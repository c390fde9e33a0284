#include "backend/linux/letterbox.h"

#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "backend/linux/script_message.h"
#include "base/errors.h"

namespace cordon::linux_backend {

Result<Letterbox> Letterbox::make() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return base::fail_os("set-up", errno,
                         "making the socket that a program is told by what to run");
  }
  Letterbox made;
  made.ours_ = base::move_up(base::Fd(pair[0]));
  made.theirs_ = base::Fd(pair[1]);
  return made;
}

Result<void> Letterbox::send(ScriptBuilder& letter) {
  const std::vector<char> message = letter.finish();
  if (message.empty()) {
    return base::fail(ErrorCode::invalid_argument, "set-up",
                      "there are too many arguments or environment variables for one run");
  }
  if (send_script(ours_.get(), message, letter.fds())) return {};
  if (errno == EPIPE || errno == ECONNRESET) {
    return base::fail(ErrorCode::system, "set-up", "the parked program is gone");
  }
  return base::fail_os("set-up", errno, "telling the parked program what to run");
}

}  // namespace cordon::linux_backend
