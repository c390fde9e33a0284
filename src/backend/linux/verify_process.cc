// The part of verify.h that reads /proc.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "backend/linux/verify.h"
#include "base/errors.h"
#include "base/fd.h"

namespace cordon::linux_backend {
namespace {

Result<std::string> read_all(int folder, const char* name) {
  const base::Fd file(::openat(folder, name, O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t n = file ? ::read(file.get(), buffer.data(), buffer.size()) : -1;
    if (n < 0) {
      return base::fail_os("verify", errno,
                           std::string("reading ") + name + " of the sandbox in /proc");
    }
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

constexpr std::array kNamespaces = {"ns/user", "ns/mnt", "ns/pid",   "ns/ipc",
                                    "ns/uts",  "ns/net", "ns/cgroup"};

ino_t inode_of(int folder, const char* name) {
  struct stat found{};
  return ::fstatat(folder, name, &found, 0) == 0 ? found.st_ino : 0;
}

Result<void> check_namespaces(int folder, bool own_network) {
  const base::Fd self(::open("/proc/thread-self", O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (const char* name : kNamespaces) {
    const bool shared = !own_network && std::string_view(name) == "ns/net";
    const ino_t theirs = inode_of(folder, name);
    const ino_t ours = inode_of(self.get(), name);
    if (theirs == 0 || ours == 0) {
      return base::fail_os("verify", errno, std::string("looking at ") + name + " of the sandbox");
    }
    if ((theirs == ours) != shared) {
      return base::fail(ErrorCode::system, "verify",
                        std::string("the sandbox's ") + name +
                            " is not what it should be, so the program was not run");
    }
  }
  return {};
}

}  // namespace

Result<void> verify_process(pid_t pid, const Expected& expected, std::string& cgroup) {
  const base::Fd folder(
      ::open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return base::fail_os("verify", errno, "looking at the sandbox in /proc");

  auto status = read_all(folder.get(), "status");
  if (!status) return std::unexpected(std::move(status.error()));
  if (auto ok = check_status(*status, expected.status); !ok) return ok;
  auto limits = read_all(folder.get(), "limits");
  if (!limits) return std::unexpected(std::move(limits.error()));
  if (auto ok = check_limits(*limits, expected.limits); !ok) return ok;
  auto mounts = read_all(folder.get(), "mountinfo");
  if (!mounts) return std::unexpected(std::move(mounts.error()));
  if (auto ok = check_mounts(*mounts, expected.mounts); !ok) return ok;
  auto groups = read_all(folder.get(), "cgroup");
  if (!groups) return std::unexpected(std::move(groups.error()));
  cgroup = std::move(*groups);
  return check_namespaces(folder.get(), expected.own_network);
}

}  // namespace cordon::linux_backend
