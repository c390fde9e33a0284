#include "backend/linux/script_message.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "backend/linux/spawner/script.h"

namespace cordon::linux_backend {
namespace {

void attach(msghdr& header, char* control, const std::vector<int>& fds) {
  if (fds.empty()) return;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
  cmsghdr* first = CMSG_FIRSTHDR(&header);
  first->cmsg_level = SOL_SOCKET;
  first->cmsg_type = SCM_RIGHTS;
  first->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
  std::memcpy(CMSG_DATA(first), fds.data(), fds.size() * sizeof(int));
}

}  // namespace

bool send_script(int socket, const std::vector<char>& script, const std::vector<int>& fds) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * spawner::kMostFds)] = {};
  std::size_t sent = 0;
  while (sent < script.size()) {
    iovec part{.iov_base = const_cast<char*>(script.data()) + sent,
               .iov_len = std::min<std::size_t>(script.size() - sent, spawner::kMostBytes)};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (sent == 0) attach(header, control, fds);
    const ssize_t n = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

}  // namespace cordon::linux_backend
