// What the kernel has and the headers of Debian 12 lack.
#pragma once

#include <sys/ioctl.h>

#include <cstdint>

namespace cordon::linux_backend::abi {

// Landlock (linux/landlock.h ends at ABI 2 here). The rights of each ABI, cumulated by landlock.cc.
struct LandlockRulesetAttr {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;  // ABI 4
  std::uint64_t scoped;              // ABI 6
};
struct [[gnu::packed]] LandlockPathBeneathAttr {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
};
inline constexpr int kLandlockRulePathBeneath = 1;
inline constexpr std::uint64_t kFsExecute = 1U << 0;
inline constexpr std::uint64_t kFsWriteFile = 1U << 1;
inline constexpr std::uint64_t kFsReadFile = 1U << 2;
inline constexpr std::uint64_t kFsReadDir = 1U << 3;
inline constexpr std::uint64_t kFsAllOfAbi1 = (1U << 13) - 1;
inline constexpr std::uint64_t kFsRefer = 1U << 13;        // ABI 2
inline constexpr std::uint64_t kFsTruncate = 1U << 14;     // ABI 3
inline constexpr std::uint64_t kFsIoctlDev = 1U << 15;     // ABI 5
inline constexpr std::uint64_t kFsResolveUnix = 1U << 16;  // ABI 9
inline constexpr std::uint64_t kNetBindTcp = 1U << 0;      // ABI 4
inline constexpr std::uint64_t kNetConnectTcp = 1U << 1;
inline constexpr std::uint64_t kScopeAbstractUnixSocket = 1U << 0;  // ABI 6
inline constexpr std::uint64_t kScopeSignal = 1U << 1;

// Seccomp notification: the waiting task is woken on the observer's processor (Linux 6.6).
inline constexpr unsigned long kSeccompNotifSetFlags = _IOW('!', 4, std::uint64_t);
inline constexpr unsigned long kSeccompSyncWakeUp = 1U << 0;

}  // namespace cordon::linux_backend::abi
