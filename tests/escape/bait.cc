#include "escape/bait.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace cordon::escape {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAttack = CORDON_TEST_PROGRAMS_DIR "/attack";

std::string joined(const fs::path& folder, const std::string& name) {
  return name.empty() ? folder.string() : (folder / name).string();
}

pid_t start_victim() {
  const std::string mark = std::string(Bait::kMarkFirst) + Bait::kMarkSecond;
  std::string variable = "SECRET=" + mark;
  std::string argument = mark;
  std::string program = kAttack;
  std::string what = "wait";
  char* const argv[] = {program.data(), what.data(), argument.data(), nullptr};
  char* const envp[] = {variable.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, kAttack, &actions, nullptr, argv, envp);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << "starting the victim";
  return error == 0 ? pid : -1;
}

}  // namespace

Bait::Bait() {
  std::string name = "/tmp/cordon-escape-XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr);
  root_ = name;
  ::chmod(name.c_str(), 0755);
  for (const char* folder : {"granted", "outside", "writable"})
    fs::create_directory(root_ / folder);
  std::ofstream(granted("plain")) << "plain";
  std::ofstream(outside("secret")) << "secret";
  fs::create_symlink("../outside/secret", granted("link"));
  shared_file_ = "/dev/shm/" + root_.filename().string();
  std::ofstream(shared_file_) << "shared";

  victim_ = start_victim();
  for (key_ = ::getpid() * 64; shared_memory_ < 0; ++key_) {
    shared_memory_ = ::shmget(key_, 4096, IPC_CREAT | IPC_EXCL | 0666);
    if (shared_memory_ >= 0 || errno != EEXIST) break;
  }
  EXPECT_GE(shared_memory_, 0) << std::strerror(errno);

  abstract_ = "@" + root_.filename().string();
  listen_unix(granted("socket"));
  listen_unix(outside("socket"));
  listen_unix(abstract_);
  port_ = listen_inet(SOCK_STREAM);
  udp_port_ = listen_inet(SOCK_DGRAM);

  terminal_master_ = base::Fd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_EQ(::unlockpt(terminal_master_.get()), 0);
  terminal_ = base::Fd(::ioctl(terminal_master_.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC));
  EXPECT_TRUE(terminal_);
}

Bait::~Bait() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
  fs::remove(shared_file_, ignored);
  if (victim_ > 0) {
    ::kill(victim_, SIGKILL);
    ::waitpid(victim_, nullptr, 0);
  }
  if (shared_memory_ >= 0) ::shmctl(shared_memory_, IPC_RMID, nullptr);
}

std::string Bait::granted(const std::string& name) const { return joined(root_ / "granted", name); }
std::string Bait::outside(const std::string& name) const { return joined(root_ / "outside", name); }
std::string Bait::writable(const std::string& name) const {
  return joined(root_ / "writable", name);
}

std::string Bait::make_setuid_program() const {
  const std::string path = granted("setuid");
  fs::copy_file(kAttack, path);
  EXPECT_EQ(::chmod(path.c_str(), 04755), 0);
  return path;
}

std::vector<std::string> Bait::foreign_or_set_ids() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(root_ / "writable")) {
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) != 0) continue;
    const bool set_ids = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
    if (set_ids || status.st_uid != ::geteuid() || status.st_gid != ::getegid()) {
      found.push_back(entry.path());
    }
  }
  return found;
}

std::vector<std::string> Bait::handle() const {
  alignas(file_handle) char place[sizeof(file_handle) + MAX_HANDLE_SZ]{};
  auto* const handle = reinterpret_cast<file_handle*>(place);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(AT_FDCWD, outside("secret").c_str(), handle, &mount, 0) != 0) return {};
  std::string hex;
  for (unsigned i = 0; i < handle->handle_bytes; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", handle->f_handle[i]);
    hex += two;
  }
  return {std::to_string(handle->handle_type), hex};
}

void Bait::listen_unix(const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  const bool abstract = name.starts_with('@');
  if (abstract) address.sun_path[0] = '\0';
  base::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0) << name;
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  if (!abstract) ::chmod(name.c_str(), 0666);
  sockets_.push_back(std::move(fd));
}

std::string Bait::listen_inet(int type) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  base::Fd fd(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  if (type == SOCK_STREAM) {
    EXPECT_EQ(::listen(fd.get(), 8), 0);
  }
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  sockets_.push_back(std::move(fd));
  return std::to_string(ntohs(address.sin_port));
}

}  // namespace cordon::escape
