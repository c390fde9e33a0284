// The part of verify.h that reads /proc.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "backend/linux/verify.h"
#include "backend/posix/rlimits.h"
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

NamespaceIds namespaces_at(int folder) {
  NamespaceIds all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    struct stat found{};
    if (::fstatat(folder, kNamespaces[i], &found, 0) == 0) all[i] = found.st_ino;
  }
  return all;
}

Result<void> check_namespaces(int folder, const NamespaceIds& outside, bool own_network) {
  const NamespaceIds inside = namespaces_at(folder);
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const std::string_view name = kNamespaces[i];
    if (inside[i] == 0 || outside[i] == 0) {
      return base::fail(ErrorCode::system, "verify",
                        "cannot look at " + std::string(name) +
                            " of the sandbox in /proc, so the program was not run");
    }
    const bool shared = !own_network && name == "ns/net";
    if ((inside[i] == outside[i]) != shared) {
      return base::fail(ErrorCode::system, "verify",
                        "the sandbox's " + std::string(name) +
                            " is not what it should be, so the program was not run");
    }
  }
  return {};
}

}  // namespace

NamespaceIds own_namespaces() {
  // The first thread is found there too, and what belongs to it is looked up there elsewhere.
  const char* const path = ::gettid() == ::getpid() ? "/proc/self" : "/proc/thread-self";
  const base::Fd self(::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  return self ? namespaces_at(self.get()) : NamespaceIds{};
}

Result<void> verify_process(pid_t pid, const Expected& expected, std::string& cgroup) {
  const base::Fd folder(
      ::open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return base::fail_os("verify", errno, "looking at the sandbox in /proc");

  auto status = read_all(folder.get(), "status");
  if (!status) return std::unexpected(std::move(status.error()));
  if (auto ok = check_status(*status, expected.status); !ok) return ok;
  auto mounts = read_all(folder.get(), "mountinfo");
  if (!mounts) return std::unexpected(std::move(mounts.error()));
  if (auto ok = check_mounts(*mounts, expected.mounts); !ok) return ok;
  auto groups = read_all(folder.get(), "cgroup");
  if (!groups) return std::unexpected(std::move(groups.error()));
  cgroup = std::move(*groups);
  return check_namespaces(folder.get(), expected.outside, expected.own_network);
}

NamespaceIds namespaces_of(pid_t pid) {
  const base::Fd folder(
      ::open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder ? namespaces_at(folder.get()) : NamespaceIds{};
}

Result<void> verify_hatched(pid_t pid, const ExpectedStatus& expected,
                            const NamespaceIds& namespaces, std::string& cgroup) {
  const base::Fd folder(
      ::open(("/proc/" + std::to_string(pid)).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return base::fail_os("verify", errno, "looking at the sandbox in /proc");
  auto status = read_all(folder.get(), "status");
  if (!status) return std::unexpected(std::move(status.error()));
  if (auto ok = check_status(*status, expected); !ok) return ok;
  auto groups = read_all(folder.get(), "cgroup");
  if (!groups) return std::unexpected(std::move(groups.error()));
  cgroup = std::move(*groups);
  const NamespaceIds found = namespaces_at(folder.get());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != 0 && found[i] == namespaces[i]) continue;
    return base::fail(ErrorCode::system, "verify",
                      "the " + std::string(kNamespaces[i]) +
                          " of the program is not its sandbox's, so it was not run");
  }
  return {};
}

Result<void> verify_limits(pid_t pid, const std::vector<posix::RlimitSetting>& expected) {
  for (const posix::RlimitSetting& limit : expected) {
    rlimit held{};
    // NOLINTNEXTLINE(bugprone-narrowing-conversions): its type is an enumeration in C++
    if (::prlimit(pid, static_cast<__rlimit_resource>(limit.resource), nullptr, &held) != 0) {
      return base::fail_os("verify", errno, "looking at the limits of the sandbox");
    }
    if (held.rlim_cur == limit.soft && held.rlim_max == limit.hard) continue;
    return base::fail(ErrorCode::system, "verify",
                      "the limit \"" + std::string(posix::limit_name(limit.resource)) +
                          "\" is not " + std::to_string(limit.soft) +
                          ", so the program was not run");
  }
  return {};
}

}  // namespace cordon::linux_backend
