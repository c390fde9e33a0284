// Sockets that lead somewhere else.
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "attack.h"

namespace attack {
namespace {

constexpr int kMptcp = 262;  // IPPROTO_MPTCP

sockaddr_in loopback(const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

const sockaddr* as_address(const sockaddr_in& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

int open_socket(int family, int type, int protocol = 0) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (fd < 0) stopped("socket");
  return fd;
}

void connect_tcp(Args args) {
  const auto address = loopback(args[0]);
  const int fd = open_socket(AF_INET, SOCK_STREAM);
  judge("connect", ::connect(fd, as_address(address), sizeof address));
}

void connect_mptcp(Args args) {
  const auto address = loopback(args[0]);
  const int fd = open_socket(AF_INET, SOCK_STREAM, kMptcp);
  judge("connect", ::connect(fd, as_address(address), sizeof address));
}

// Connects without connect().
void fast_open(Args args) {
  const auto address = loopback(args[0]);
  const int fd = open_socket(AF_INET, SOCK_STREAM);
  judge("sendto",
        ::sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, as_address(address), sizeof address));
}

void connect_tcp6(Args args) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(static_cast<std::uint16_t>(std::atoi(args[0])));
  ::inet_pton(AF_INET6, "::ffff:127.0.0.1", &address.sin6_addr);
  const int fd = open_socket(AF_INET6, SOCK_STREAM);
  judge("connect", ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

void send_udp(Args args) {
  const auto address = loopback(args[0]);
  const int fd = open_socket(AF_INET, SOCK_DGRAM);
  judge("sendto", ::sendto(fd, "x", 1, 0, as_address(address), sizeof address));
}

// "@name" is abstract. The length is returned in `size`.
sockaddr_un unix_address(std::string_view name, socklen_t& size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  if (name.starts_with('@')) address.sun_path[0] = '\0';
  return address;
}

void connect_unix(Args args) {
  socklen_t size = 0;
  const auto address = unix_address(args[0], size);
  const int fd = open_socket(AF_UNIX, SOCK_STREAM);
  judge("connect", ::connect(fd, reinterpret_cast<const sockaddr*>(&address), size));
}

// Not an attack: what another sandbox then tries to reach.
void listen_unix(Args args) {
  socklen_t size = 0;
  const auto address = unix_address(args[0], size);
  const int fd = open_socket(AF_UNIX, SOCK_STREAM);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || ::listen(fd, 8) != 0) {
    untried("bind");
  }
  say("ready");
  hang();
}

std::string listen_tcp(int& fd) {
  sockaddr_in address = loopback("0");
  socklen_t size = sizeof address;
  fd = open_socket(AF_INET, SOCK_STREAM);
  if (::bind(fd, as_address(address), size) != 0 || ::listen(fd, 8) != 0) stopped("bind");
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  return std::to_string(ntohs(address.sin_port));
}

void listen_on_loopback(Args /*args*/) {
  int fd = -1;
  say("port " + listen_tcp(fd));
  hang();
}

// Not an attack: a loopback of one's own is for this.
void talk_to_oneself(Args /*args*/) {
  int listening = -1;
  const auto address = loopback(listen_tcp(listening).c_str());
  const int fd = open_socket(AF_INET, SOCK_STREAM);
  if (::connect(fd, as_address(address), sizeof address) != 0) stopped("connect");
  judge("accept", ::accept(listening, nullptr, nullptr));
}

void other_interface(Args /*args*/) {
  struct if_nameindex* const all = ::if_nameindex();
  if (all == nullptr) untried("if_nameindex");
  for (const struct if_nameindex* one = all; one->if_index != 0; ++one) {
    if (std::string_view(one->if_name) != "lo") reached(one->if_name);
  }
  stopped("none but lo", ENODEV);
}

// FAMILY TYPE PROTOCOL
void make_socket(Args args) {
  try_to_gain_capabilities();
  judge("socket", ::socket(std::atoi(args[0]), std::atoi(args[1]), std::atoi(args[2])));
}

constexpr Entry kAll[] = {
    {"connect-tcp", connect_tcp, 1},
    {"connect-mptcp", connect_mptcp, 1},
    {"fast-open", fast_open, 1},
    {"connect-tcp6", connect_tcp6, 1},
    {"send-udp", send_udp, 1},
    {"connect-unix", connect_unix, 1},
    {"listen-unix", listen_unix, 1},
    {"listen-tcp", listen_on_loopback},
    {"talk-to-oneself", talk_to_oneself},
    {"other-interface", other_interface},
    {"socket", make_socket, 3},
};

}  // namespace

std::span<const Entry> network_attacks() { return kAll; }

}  // namespace attack
