// Leaves something behind, and looks for what another run has left.
//
//   leftover leave KIND     writes "left", or "refused" where a sandbox does not let it
//   leftover find KIND      writes "found" or "nothing"
//   leftover show network   writes a number that no other network ever has
//
// KIND is one of the names in main(). What lives only as long as somebody holds it is sent over
// stdin, which is a socket of the test.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace {

constexpr key_t kKey = 0x5eed;
constexpr int kPort = 4711;

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool make_file(const char* path) { return static_cast<bool>(std::ofstream(path) << "left"); }

struct Address {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

Address abstract_address() {
  constexpr std::string_view kName("\0leftover", 9);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, kName.data(), kName.size());
  Address address;
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + kName.size());
  std::memcpy(&address.bytes, &name, sizeof name);
  return address;
}

Address loopback_address() {
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_port = htons(kPort);
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Address address;
  address.size = sizeof name;
  std::memcpy(&address.bytes, &name, sizeof name);
  return address;
}

const sockaddr* generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.bytes);  // NOLINT: as bind() wants it
}

bool bind_to(int socket, const Address& address) {
  return socket >= 0 && ::bind(socket, generic(address), address.size) == 0;
}

// The test holds it then, in a message that it does not read.
bool send_away(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof socket);
  std::memcpy(CMSG_DATA(head), &socket, sizeof socket);
  return ::sendmsg(0, &message, 0) == 1;
}

bool leave_socket(int family, const Address& address) {
  const int socket = ::socket(family, SOCK_STREAM, 0);
  return bind_to(socket, address) && ::listen(socket, 1) == 0;
}

bool leave_socket_held(int family, const Address& address) {
  const int socket = ::socket(family, SOCK_STREAM, 0);
  return bind_to(socket, address) && ::listen(socket, 1) == 0 && send_away(socket);
}

bool address_taken(int family, const Address& address) {
  const int socket = ::socket(family, SOCK_STREAM, 0);
  return !bind_to(socket, address) && errno == EADDRINUSE;
}

// The two hold each other: only the kernel's collector finds them.
bool leave_cycle() {
  const int named = ::socket(AF_UNIX, SOCK_STREAM, 0);
  int pair[2];
  if (!bind_to(named, abstract_address()) || ::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) {
    return false;
  }
  for (const auto& [over, what] : {std::pair{pair[0], pair[1]}, {pair[1], pair[0]}}) {
    if (::dup2(over, 0) < 0 || !send_away(what) || !send_away(named)) return false;
  }
  return true;
}

// The end that closes first waits for a minute.
bool leave_time_wait() {
  const int server = ::socket(AF_INET, SOCK_STREAM, 0);
  const Address address = loopback_address();
  if (!bind_to(server, address) || ::listen(server, 1) != 0) return false;
  const int client = ::socket(AF_INET, SOCK_STREAM, 0);
  if (client < 0 || ::connect(client, generic(address), address.size) != 0) return false;
  const int peer = ::accept(server, nullptr, nullptr);
  ::close(peer);
  char byte = 0;
  const bool ended = ::read(client, &byte, 1) == 0;
  ::close(client);
  return ended;
}

bool leave_counter() {
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  const Address address = loopback_address();
  return socket >= 0 && ::connect(socket, generic(address), address.size) != 0;
}

bool find_counter() {
  // Two lines, names and numbers; nobody has failed to find a way yet.
  std::istringstream all(text_of("/proc/net/snmp"));
  std::string names;
  std::string numbers;
  std::getline(all, names);
  std::getline(all, numbers);
  std::istringstream name(names);
  std::istringstream number(numbers);
  for (std::string n, v; name >> n && number >> v;) {
    if (n == "OutNoRoutes") return v != "0";
  }
  return true;
}

struct FlowLabel {  // in6_flowlabel_req of linux/in6.h
  in6_addr dst;
  std::uint32_t label;
  std::uint8_t action;
  std::uint8_t share;
  std::uint16_t flags;
  std::uint16_t expires;
  std::uint16_t linger;
  std::uint32_t pad;
};

bool leave_flow_label() {
  constexpr int kManage = 32;  // IPV6_FLOWLABEL_MGR
  const int socket = ::socket(AF_INET6, SOCK_DGRAM, 0);
  FlowLabel label{};
  label.dst = in6addr_loopback;
  label.label = htonl(0x12345);
  label.share = 255;  // any
  label.flags = 1;    // create
  label.expires = 60;
  label.linger = 60;
  return ::setsockopt(socket, IPPROTO_IPV6, kManage, &label, sizeof label) == 0;
}

bool find_flow_label() {
  return text_of("/proc/net/ip6_flowlabel").find("12345") != std::string::npos;
}

int show_network() {
  constexpr int kCookie = 71;  // SO_NETNS_COOKIE
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(socket, SOL_SOCKET, kCookie, &cookie, &size) != 0) return 1;
  std::printf("%llu\n", static_cast<unsigned long long>(cookie));
  return 0;
}

bool leave_process() {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  return child > 0;
}

bool find_process() {
  const std::string own = std::to_string(::getpid());
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name != "1" && name != own) return true;
  }
  return own != "2";
}

bool leave_limit() {
  const rlimit fewer{50, 50};
  return ::setrlimit(RLIMIT_NOFILE, &fewer) == 0;
}

bool find_limit() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur <= 50;
}

bool leave_key() {
  constexpr int kUserKeyring = -4;
  return ::syscall(SYS_add_key, "user", "leftover", "x", 1, kUserKeyring) >= 0;
}

bool find_key() { return text_of("/proc/keys").find("leftover") != std::string::npos; }

struct Kind {
  std::string_view name;
  bool (*leave)();
  bool (*find)();
};

constexpr auto kKinds = std::to_array<Kind>({
    {"file-in-tmp", [] { return make_file("/tmp/left"); },
     [] { return std::filesystem::exists("/tmp/left"); }},
    {"file-in-shm", [] { return make_file("/dev/shm/left"); },
     [] { return std::filesystem::exists("/dev/shm/left"); }},
    {"abstract-socket", [] { return leave_socket(AF_UNIX, abstract_address()); },
     [] { return address_taken(AF_UNIX, abstract_address()); }},
    {"abstract-socket-held", [] { return leave_socket_held(AF_UNIX, abstract_address()); },
     [] { return address_taken(AF_UNIX, abstract_address()); }},
    {"abstract-socket-cycle", leave_cycle,
     [] { return address_taken(AF_UNIX, abstract_address()); }},
    {"port", [] { return leave_socket(AF_INET, loopback_address()); },
     [] { return address_taken(AF_INET, loopback_address()); }},
    {"port-held", [] { return leave_socket_held(AF_INET, loopback_address()); },
     [] { return address_taken(AF_INET, loopback_address()); }},
    {"time-wait", leave_time_wait, [] { return address_taken(AF_INET, loopback_address()); }},
    {"counter", leave_counter, find_counter},
    {"flow-label", leave_flow_label, find_flow_label},
    {"shared-memory", [] { return ::shmget(kKey, 4096, IPC_CREAT | 0600) >= 0; },
     [] { return ::shmget(kKey, 0, 0) >= 0; }},
    {"semaphore", [] { return ::semget(kKey, 1, IPC_CREAT | 0600) >= 0; },
     [] { return ::semget(kKey, 0, 0) >= 0; }},
    {"message-queue", [] { return ::msgget(kKey, IPC_CREAT | 0600) >= 0; },
     [] { return ::msgget(kKey, 0) >= 0; }},
    {"posix-message-queue",
     [] { return ::syscall(SYS_mq_open, "left", O_CREAT | O_RDWR, 0600, nullptr) >= 0; },
     [] { return ::syscall(SYS_mq_open, "left", O_RDWR, 0, nullptr) >= 0; }},
    {"process", leave_process, find_process},
    {"limit", leave_limit, find_limit},
    {"key", leave_key, find_key},
});

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  if (std::string_view(argv[1]) == "show") return show_network();
  for (const Kind& kind : kKinds) {
    if (kind.name != argv[2]) continue;
    if (std::string_view(argv[1]) == "leave") {
      std::puts(kind.leave() ? "left" : "refused");
    } else {
      std::puts(kind.find() ? "found" : "nothing");
    }
    return 0;
  }
  return 2;
}
