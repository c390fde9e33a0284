// Parts of the kernel that a program has no need for: call NAME.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <sys/fanotify.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <ctime>

#include "attack.h"

namespace attack {
namespace {

constexpr long kKeyringOfProcess = -2;
constexpr long kKeyringOfSession = -3;

long io_uring() {
  io_uring_params params{};
  return ::syscall(SYS_io_uring_setup, 4, &params);
}

long aio() {
  unsigned long context = 0;
  return ::syscall(SYS_io_setup, 1, &context);
}

long bpf() {
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = 4;
  map.value_size = 4;
  map.max_entries = 1;
  return ::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map);
}

long perf_event() {
  perf_event_attr event{};
  event.type = PERF_TYPE_SOFTWARE;
  event.size = sizeof event;
  event.config = PERF_COUNT_SW_TASK_CLOCK;
  event.exclude_kernel = 1;
  event.exclude_hv = 1;
  return ::syscall(SYS_perf_event_open, &event, 0, -1, -1, 0);
}

long userfaultfd() { return ::syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY); }

long add_key() { return ::syscall(SYS_add_key, "user", "cordon-test", "x", 1, kKeyringOfProcess); }

long session_keyring() { return ::syscall(SYS_keyctl, 0, kKeyringOfSession, 1); }

// Without a key of that name the answer is ENOKEY: the question was heard.
long request_key() {
  const long found = ::syscall(SYS_request_key, "user", "cordon-no-such-key", nullptr, 0);
  return found < 0 && errno == ENOKEY ? 0 : found;
}

long kernel_log() { return ::syscall(SYS_syslog, 10, nullptr, 0); }  // the size of its buffer

// A time that is none: EINVAL says that only the value was wrong.
long set_clock() {
  const timespec wrong{.tv_sec = 0, .tv_nsec = -1};
  const long result = ::syscall(SYS_clock_settime, CLOCK_REALTIME, &wrong);
  return result < 0 && errno == EINVAL ? 0 : result;
}

long swap_on() {
  const long result = ::swapon("/no/such/file", 0);
  return result < 0 && errno == ENOENT ? 0 : result;
}

long ports() { return ::syscall(SYS_ioperm, 0x80, 1, 1); }

long persona() { return ::syscall(SYS_personality, ADDR_NO_RANDOMIZE); }

long wide_persona() { return ::syscall(SYS_personality, (1UL << 32) | ADDR_NO_RANDOMIZE); }

long local_descriptor_table() {
  char entry[16];
  return ::syscall(SYS_modify_ldt, 0, entry, sizeof entry);
}

long fanotify() { return ::syscall(SYS_fanotify_init, FAN_CLASS_NOTIF | FAN_REPORT_FID, O_RDONLY); }

long compare() { return ::syscall(SYS_kcmp, ::getpid(), ::getpid(), 1, 0, 0); }

long message_queue() { return ::syscall(SYS_msgget, 0, 0600); }  // IPC_PRIVATE

long move_pages() { return ::syscall(SYS_move_pages, 0, 0, nullptr, nullptr, nullptr, 0); }

long map_again() {
  const long page = ::sysconf(_SC_PAGESIZE);
  void* const at = ::mmap(nullptr, static_cast<std::size_t>(page), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return ::syscall(SYS_remap_file_pages, at, page, 0, 0, 0);
}

long splice_memory() {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  char byte = 'x';
  const iovec part{.iov_base = &byte, .iov_len = 1};
  return ::vmsplice(ends[1], &part, 1, 0);
}

long handle_of_file() {
  alignas(file_handle) char place[sizeof(file_handle) + MAX_HANDLE_SZ]{};
  auto* const handle = reinterpret_cast<file_handle*>(place);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  return ::name_to_handle_at(AT_FDCWD, "/proc/self/exe", handle, &mount, AT_SYMLINK_FOLLOW);
}

// getpid by the 32-bit entry.
long by_i386() {
  long result = 20;
  asm volatile("int $0x80" : "+a"(result) : : "r8", "r9", "r10", "r11", "memory");
  return result;
}

long by_x32() { return ::syscall(0x4000'0000 | SYS_getpid); }

struct Call {
  std::string_view name;
  long (*make)();
};
constexpr Call kCalls[] = {
    {"io_uring", io_uring},
    {"aio", aio},
    {"bpf", bpf},
    {"perf_event", perf_event},
    {"userfaultfd", userfaultfd},
    {"add_key", add_key},
    {"session_keyring", session_keyring},
    {"request_key", request_key},
    {"kernel_log", kernel_log},
    {"set_clock", set_clock},
    {"swap_on", swap_on},
    {"ports", ports},
    {"persona", persona},
    {"wide_persona", wide_persona},
    {"modify_ldt", local_descriptor_table},
    {"fanotify", fanotify},
    {"kcmp", compare},
    {"message_queue", message_queue},
    {"move_pages", move_pages},
    {"remap_file_pages", map_again},
    {"vmsplice", splice_memory},
    {"name_to_handle", handle_of_file},
    {"i386", by_i386},
    {"x32", by_x32},
};

void make_call(Args args) {
  for (const Call& call : kCalls) {
    if (call.name == args[0]) judge(call.name, call.make());
  }
  untried("no such call", EINVAL);
}

constexpr Entry kAll[] = {{"call", make_call, 1}};

}  // namespace

std::span<const Entry> kernel_attacks() { return kAll; }

}  // namespace attack
