#include "backend/linux/status_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace cordon::linux_backend {

Result<StatusSocket> StatusSocket::make() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
    return base::fail_os("set-up", errno, "making the socket for reports from the sandbox");
  }
  base::Fd ours(pair[0]);
  base::Fd theirs(pair[1]);
  // Each report says which process it is from; nobody inside can claim another's.
  const int on = 1;
  if (::setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return base::fail_os("set-up", errno, "asking for the senders of the sandbox's reports");
  }
  StatusSocket made;
  made.ours_ = std::move(ours);
  made.theirs_ = std::move(theirs);
  return made;
}

namespace {

ssize_t receive(int socket, StatusSocket::Heard& heard, base::Fd& passed) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))];
  iovec part{.iov_base = &heard.report, .iov_len = sizeof heard.report};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0) return got;
  for (cmsghdr* with = CMSG_FIRSTHDR(&header); with != nullptr; with = CMSG_NXTHDR(&header, with)) {
    if (with->cmsg_type == SCM_CREDENTIALS) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(with), sizeof sender);
      heard.sender = sender.pid;
    } else if (with->cmsg_type == SCM_RIGHTS) {  // there is room for one
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(with), sizeof fd);
      passed = base::move_up(base::Fd(fd));
    }
  }
  return got;
}

int milliseconds_until(TimePoint until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      until - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<long>(0, left.count()));
}

}  // namespace

void StatusSocket::wait_for(int fd, TimePoint until) const {
  pollfd wanted[] = {{.fd = fd, .events = POLLIN, .revents = 0},
                     {.fd = ours_.get(), .events = 0, .revents = 0}};
  while (::poll(wanted, 2, milliseconds_until(until)) < 0 && errno == EINTR) {
  }
}

Result<std::optional<StatusSocket::Heard>> StatusSocket::next(TimePoint until,
                                                              std::array<int, 2> ends) {
  Heard heard;
  for (;;) {
    pollfd wanted[] = {{.fd = ours_.get(), .events = POLLIN, .revents = 0},
                       {.fd = ends[0], .events = POLLIN, .revents = 0},
                       {.fd = ends[1], .events = POLLIN, .revents = 0}};
    const int ready = ::poll(wanted, 3, milliseconds_until(until));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      return base::fail(ErrorCode::timed_out, "set-up",
                        "the sandbox was not ready in time: is the machine overloaded?");
    }
    const ssize_t got = receive(ours_.get(), heard, listener_);
    if (got < 0 && errno == EAGAIN && (wanted[1].revents | wanted[2].revents) != 0) {
      return std::nullopt;  // what has ended has nothing more to say
    }
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return std::nullopt;
    if (got != sizeof heard.report) {
      return base::fail_os("set-up", got < 0 ? errno : EPROTO, "hearing from the sandbox");
    }
    return heard;
  }
}

bool StatusSocket::release() { return ::send(ours_.get(), "", 1, MSG_NOSIGNAL) == 1; }

void StatusSocket::abandon() { (void)::shutdown(ours_.get(), SHUT_WR); }

}  // namespace cordon::linux_backend
