#include "backend/linux/explain_program.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <utility>

namespace cordon::linux_backend {
namespace {

using State = InsideFile::State;

constexpr std::uint64_t kPage = 4096;

// As much as can be read, of at most PATH_MAX: what comes next may lie in a page that is not there.
std::string read_memory(pid_t task, std::uint64_t address, std::uint64_t most) {
  std::array<char, PATH_MAX> buffer;
  const std::uint64_t wanted = std::min<std::uint64_t>(most, buffer.size());
  const std::uint64_t first = std::min(wanted, kPage - address % kPage);
  iovec into{.iov_base = buffer.data(), .iov_len = wanted};
  // NOLINTBEGIN(performance-no-int-to-ptr): addresses of another process
  const std::array<iovec, 2> from{
      iovec{.iov_base = reinterpret_cast<void*>(address), .iov_len = first},
      iovec{.iov_base = reinterpret_cast<void*>(address + first), .iov_len = wanted - first}};
  // NOLINTEND(performance-no-int-to-ptr)
  const ssize_t got = ::process_vm_readv(task, &into, 1, from.data(), from.size(), 0);
  return got > 0 ? std::string(buffer.data(), static_cast<std::size_t>(got)) : std::string();
}

std::optional<std::string> read_text(pid_t task, std::uint64_t address) {
  std::string text = read_memory(task, address, PATH_MAX);
  const std::size_t end = text.find('\0');
  if (end == std::string::npos) return std::nullopt;
  text.resize(end);
  return text;
}

std::optional<std::string> link_text(const std::string& link) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  if (size <= 0 || size == static_cast<ssize_t>(target.size()) || target[0] != '/') {
    return std::nullopt;
  }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

// Where a relative path begins, as a path inside.
std::optional<std::string> directory_of(pid_t task, int directory) {
  const std::string process = "/proc/" + std::to_string(task);
  return link_text(directory == AT_FDCWD ? process + "/cwd"
                                         : process + "/fd/" + std::to_string(directory));
}

template <typename T>
std::optional<T> as(const std::string& bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

std::string address_text(int family, const void* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  return ::inet_ntop(family, address, text.data(), text.size()) == nullptr ? "?" : text.data();
}

bool read_internet(const std::string& bytes, SocketAttempt& attempt) {
  if (attempt.family == AF_INET) {
    const auto address = as<sockaddr_in>(bytes);
    if (!address) return false;
    const std::uint32_t host = ntohl(address->sin_addr.s_addr);
    constexpr std::uint32_t kLoopbackNet = 127;
    attempt.loopback = host >> 24 == kLoopbackNet || host == INADDR_ANY;
    attempt.address =
        address_text(AF_INET, &address->sin_addr) + ":" + std::to_string(ntohs(address->sin_port));
    return true;
  }
  // The kernel takes one without the last field.
  if (bytes.size() < offsetof(sockaddr_in6, sin6_scope_id)) return false;
  sockaddr_in6 address{};
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  const in6_addr& host = address.sin6_addr;
  constexpr std::size_t kMappedAt = 12;
  constexpr std::uint8_t kLoopbackNet = 127;
  attempt.loopback = IN6_IS_ADDR_LOOPBACK(&host) || IN6_IS_ADDR_UNSPECIFIED(&host) ||
                     (IN6_IS_ADDR_V4MAPPED(&host) && host.s6_addr[kMappedAt] == kLoopbackNet);
  attempt.address =
      "[" + address_text(AF_INET6, &host) + "]:" + std::to_string(ntohs(address.sin6_port));
  return true;
}

}  // namespace

InsideFile ObservedProgram::find(const std::string& path, bool follow) const {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  // Inside, whatever links and ".." there are; what /proc has links to is no business of ours.
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const base::Fd found(
      static_cast<int>(::syscall(SYS_openat2, root_.get(), path.c_str(), &how, sizeof how)));
  if (!found) {
    return {.state = errno == ENOENT || errno == ENOTDIR ? State::absent : State::unknown};
  }
  auto real = link_text("/proc/self/fd/" + std::to_string(found.get()));
  if (!real) return {};
  return {.state = State::present, .path = std::move(*real)};
}

std::optional<PathAttempt> ObservedProgram::attempt(pid_t task, const NamedPath& named) const {
  auto path = read_text(task, named.address);
  if (!path || path->empty()) return std::nullopt;
  if (!path->starts_with('/')) {
    const auto directory = directory_of(task, named.directory);
    if (!directory) return std::nullopt;
    *path = *directory + "/" + *path;
  }
  PathAttempt attempt{.path = std::move(*path), .use = named.use};
  attempt.inside = find(attempt.path, named.follow);
  if (named.use >= Use::create) {
    // Without its last name: the rest is resolved as the kernel does it.
    const std::string_view whole = attempt.path;
    const std::size_t end = whole.find_last_not_of('/');
    const std::size_t slash = end == std::string_view::npos ? 0 : whole.rfind('/', end);
    attempt.parent = find(std::string(whole.substr(0, slash + 1)), true);
  }
  return attempt;
}

std::optional<SocketAttempt> ObservedProgram::attempt(pid_t task, const NamedSocket& named) const {
  const std::string bytes =
      read_memory(task, named.address,
                  std::min<std::uint64_t>(named.size & 0xffff'ffffU, sizeof(sockaddr_storage)));
  const auto family = as<sa_family_t>(bytes);
  if (!family) return std::nullopt;
  SocketAttempt attempt{.send = named.send, .family = *family};
  if (attempt.family == AF_INET || attempt.family == AF_INET6) {
    if (!read_internet(bytes, attempt)) return std::nullopt;
    return attempt;
  }
  if (attempt.family != AF_UNIX) return std::nullopt;
  std::string path = bytes.substr(offsetof(sockaddr_un, sun_path));
  path.resize(std::min(path.size(), path.find('\0')));
  if (path.empty()) return std::nullopt;
  if (!path.starts_with('/')) {
    const auto directory = directory_of(task, AT_FDCWD);
    if (!directory) return std::nullopt;
    path = *directory + "/" + path;
  }
  attempt.inside = find(path, true);
  attempt.address = std::move(path);
  return attempt;
}

}  // namespace cordon::linux_backend
