#include "mcp/http/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "base/trust.h"
#include "mcp/http/guard.h"

namespace cordon::mcp {
namespace {

constexpr const char* kStage = "listen";
constexpr int kBacklog = 1024;

std::unexpected<Error> bad_address(std::string_view text, std::string_view why) {
  return base::fail(
      ErrorCode::invalid_argument, kStage,
      fmt::format("\"{}\" {}: use 127.0.0.1:PORT or unix:PATH", base::printable(text), why));
}

struct SocketName {
  sockaddr_storage storage{};
  socklen_t size = 0;

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

template <typename Address>
SocketName name_of(const Address& address) {
  SocketName name;
  static_assert(sizeof address <= sizeof name.storage);
  std::memcpy(&name.storage, &address, sizeof address);
  name.size = sizeof address;
  return name;
}

SocketName tcp_name(const HttpAddress& address) {
  sockaddr_in6 six{};
  if (::inet_pton(AF_INET6, address.host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    return name_of(six);
  }
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(address.port);
  (void)::inet_pton(AF_INET, address.host.c_str(), &four.sin_addr);  // looked at when it was read
  return name_of(four);
}

// A directory's descriptor stands for its name: no path is too long, and none can be exchanged.
Result<SocketName> unix_name(int directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, name);
  if (path.size() >= sizeof address.sun_path) {
    return base::fail(ErrorCode::invalid_argument, kStage,
                      fmt::format("the name {} is too long for a socket", base::printable(name)));
  }
  std::ranges::copy(path, std::begin(address.sun_path));
  return name_of(address);
}

base::Fd new_socket(int family) {
  return base::Fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// Makes way for a new one where an old one is left over. The directory is locked.
Result<void> replace_stale(int directory, const std::string& name, const std::string& path) {
  struct stat found{};
  if (::fstatat(directory, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return base::fail_os(kStage, errno, fmt::format("looking at {}", base::printable(path)));
  }
  if (!S_ISSOCK(found.st_mode)) {
    return base::fail(ErrorCode::wrong_state, kStage,
                      fmt::format("{} is there and is no socket: remove it, or choose another path",
                                  base::printable(path)));
  }
  auto address = unix_name(directory, name);
  if (!address) return std::unexpected(std::move(address.error()));
  const base::Fd probe = new_socket(AF_UNIX);
  if (!probe) return base::fail_os(kStage, errno, "making a socket");
  if (::connect(probe.get(), address->get(), address->size) == 0 || errno != ECONNREFUSED) {
    return base::fail(ErrorCode::wrong_state, kStage,
                      fmt::format("{} is in use: somebody listens there", base::printable(path)));
  }
  if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT) {
    return base::fail_os(kStage, errno,
                         fmt::format("removing the unused socket {}", base::printable(path)));
  }
  return {};
}

}  // namespace

Result<HttpAddress> read_http_address(std::string_view text) {
  constexpr std::string_view kUnix = "unix:";
  HttpAddress address;
  if (text.starts_with(kUnix)) {
    address.path = text.substr(kUnix.size());
    if (address.path.empty() || address.path.ends_with('/'))
      return bad_address(text, "names no file");
    if (address.path.find('\0') != std::string::npos) return bad_address(text, "is no path");
    return address;
  }
  const bool port_only = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const auto read =
      read_authority(port_only ? fmt::format("127.0.0.1:{}", text) : std::string(text));
  if (!read) return bad_address(text, "is no address");
  if (!read->port) return bad_address(text, "has no port");
  address.port = *read->port;
  address.host = read->host == "localhost" ? "127.0.0.1" : read->host;
  if (address.host.starts_with('[')) {
    address.host = address.host.substr(1, address.host.size() - 2);
    return address;
  }
  in_addr parsed{};
  if (::inet_pton(AF_INET, address.host.c_str(), &parsed) != 1) {
    return bad_address(text, "is no address of this host");
  }
  return address;
}

bool is_loopback(const HttpAddress& address) {
  if (!address.path.empty()) return true;
  const bool six = address.host.find(':') != std::string::npos;
  return is_loopback(six ? "[" + address.host + "]" : address.host);
}

Result<HttpSocket> HttpSocket::listen(const HttpAddress& address) {
  HttpSocket made;
  made.address_ = address;
  auto listening = address.path.empty() ? made.listen_tcp() : made.listen_unix();
  if (!listening) return std::unexpected(std::move(listening.error()));
  made.socket_ = base::move_up(std::move(made.socket_));
  return made;
}

Result<void> HttpSocket::listen_tcp() {
  const std::string shown = fmt::format("{} port {}", address_.host, address_.port);
  SocketName name = tcp_name(address_);
  socket_ = new_socket(name.storage.ss_family);
  const int on = 1;
  if (!socket_) return base::fail_os(kStage, errno, "making a socket for " + shown);
  (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket_.get(), name.get(), name.size) != 0 || ::listen(socket_.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) {
      return base::fail(ErrorCode::wrong_state, kStage,
                        shown + " is in use: choose another, or 0 for any that is free");
    }
    return base::fail_os(kStage, errno, "listening on " + shown);
  }
  name.size = sizeof name.storage;
  if (::getsockname(socket_.get(), name.get(), &name.size) != 0) {
    return base::fail_os(kStage, errno, "asking for the port of " + shown);
  }
  // The port is at the same place for both families.
  sockaddr_in bound{};
  std::memcpy(&bound, &name.storage, sizeof bound);
  address_.port = ntohs(bound.sin_port);
  return {};
}

Result<void> HttpSocket::listen_unix() {
  const std::string shown = base::printable(address_.path);
  const std::size_t slash = address_.path.rfind('/');
  std::string parent = slash == std::string::npos ? "." : address_.path.substr(0, slash + 1);
  name_ = address_.path.substr(slash + 1);
  if (name_ == "." || name_ == "..") return bad_address(address_.path, "names no file");
  directory_ = base::Fd(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found{};
  if (!directory_ || ::fstat(directory_.get(), &found) != 0) {
    return base::fail_os(kStage, errno, fmt::format("opening the directory of {}", shown));
  }
  if (!base::owner_is_trusted(found) || base::others_may_write(found)) {
    return base::fail(ErrorCode::not_permitted, kStage,
                      fmt::format("others can change the directory of {}, and so pose as this "
                                  "server: use one of your own, with mode 0700",
                                  shown));
  }
  // Two that start at the same time must not take each other's socket for an unused one.
  if (::flock(directory_.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::fail_os(kStage, errno, fmt::format("locking the directory of {}", shown));
  }
  auto free = replace_stale(directory_.get(), name_, address_.path);
  auto name = unix_name(directory_.get(), name_);
  Result<void> made = free;
  if (free && !name) made = std::unexpected(std::move(name.error()));
  if (made) {
    socket_ = new_socket(AF_UNIX);
    // The mode of the socket that bind() makes: there is no moment at which it is another.
    if (!socket_ || ::fchmod(socket_.get(), 0600) != 0 ||
        ::bind(socket_.get(), name->get(), name->size) != 0 ||
        ::listen(socket_.get(), kBacklog) != 0 ||
        ::fstatat(directory_.get(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) {
      made = base::fail_os(kStage, errno, fmt::format("listening on {}", shown));
    } else {
      device_ = found.st_dev;
      inode_ = found.st_ino;
    }
  }
  (void)::flock(directory_.get(), LOCK_UN);
  return made;
}

HttpSocket::~HttpSocket() {
  if (!directory_ || inode_ == 0) return;
  struct stat found{};
  // Only what is ours: somebody may have put another in its place.
  if (::fstatat(directory_.get(), name_.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
      found.st_dev == device_ && found.st_ino == inode_) {
    (void)::unlinkat(directory_.get(), name_.c_str(), 0);
  }
}

}  // namespace cordon::mcp
