#include "backend/linux/spawner/receive.h"

#include <asm/unistd.h>

#include "backend/linux/spawner/script.h"
#include "backend/linux/spawner/syscalls.h"

namespace cordon::linux_backend::spawner {
namespace {

constexpr long kEINTR = 4;

struct MessageHeader {
  void* name;
  std::uint32_t name_size;
  void* vectors;
  std::uint64_t vector_count;
  void* control;
  std::uint64_t control_size;
  std::int32_t flags;
};
struct Vector {
  std::uint64_t base;
  std::uint64_t size;
};

// One message. Descriptors come with the first.
long receive_message(int socket, std::uint64_t flags, std::uint64_t offset) {
  constexpr std::uint64_t kControlSize = 16 + kMostFds * 4;
  alignas(8) char control[kControlSize];
  Vector vector{.base = kArena + offset, .size = kMostBytes};
  MessageHeader header{.name = nullptr,
                       .name_size = 0,
                       .vectors = &vector,
                       .vector_count = 1,
                       .control = control,
                       .control_size = kControlSize,
                       .flags = 0};
  long got = 0;
  do {
    got = call(__NR_recvmsg, static_cast<std::uint64_t>(socket), address(&header), flags);
  } while (got == -kEINTR);
  return got;
}

}  // namespace

bool receive_script(int socket, std::uint64_t flags) {
  const auto& script = at<const Script>(kArena);
  std::uint64_t have = 0;
  std::uint64_t want = sizeof(Script);
  while (have < want) {
    const long got = receive_message(socket, flags, have);
    if (got <= 0) return false;
    have += static_cast<std::uint64_t>(got);
    if (have < sizeof(Script)) return false;
    want = script.size;
    if (want > kArenaSize - kMostBytes) return false;
  }
  return have == want;
}

void forget_script() {
  const auto& script = at<const Script>(kArena);
  constexpr std::uint64_t kDontNeed = 4;
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t size = (script.size + kPage - 1) / kPage * kPage;
  if (call(__NR_madvise, kArena, size, kDontNeed) == 0 &&
      call(__NR_close_range, kFirstFd, ~0U, 0) == 0) {
    return;
  }
  for (;;) call(__NR_exit_group, 1);
}

}  // namespace cordon::linux_backend::spawner
