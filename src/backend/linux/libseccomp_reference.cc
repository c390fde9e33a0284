#include "backend/linux/libseccomp_reference.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "backend/linux/seccomp_calls.h"
#include "base/fd.h"

namespace cordon::linux_backend {
namespace {

constexpr std::uint64_t kLowWord = 0xffff'ffff;

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};

class Filter {
 public:
  explicit Filter(std::uint32_t default_action) : filter_(::seccomp_init(default_action)) {
    note(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
    note(::seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  }

  void allow(int call, const std::vector<scmp_arg_cmp>& when = {}) {
    add(SCMP_ACT_ALLOW, call, when);
  }
  void deny(std::uint32_t os_error, int call, const std::vector<scmp_arg_cmp>& when) {
    add(SCMP_ACT_ERRNO(os_error), call, when);
  }

  [[nodiscard]] BpfProgram compile() {
    const base::Fd file(::memfd_create("seccomp", MFD_CLOEXEC));
    note(::seccomp_export_bpf(filter_.get(), file.get()));
    const off_t bytes = ::lseek(file.get(), 0, SEEK_END);
    if (failed_ || bytes <= 0) return {};
    BpfProgram program(static_cast<std::size_t>(bytes) / sizeof(sock_filter));
    if (::pread(file.get(), program.data(), static_cast<std::size_t>(bytes), 0) != bytes) return {};
    return program;
  }

 private:
  void note(int result) { failed_ = failed_ || result < 0; }
  void add(std::uint32_t action, int call, const std::vector<scmp_arg_cmp>& when) {
    note(::seccomp_rule_add_array(filter_.get(), action, call, static_cast<unsigned>(when.size()),
                                  when.data()));
  }

  std::unique_ptr<std::remove_pointer_t<scmp_filter_ctx>, Release> filter_;
  bool failed_ = false;
};

scmp_arg_cmp is(unsigned argument, std::uint64_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, kLowWord, value};
}
scmp_arg_cmp has_bit(unsigned argument, std::uint64_t bit) {
  return {argument, SCMP_CMP_MASKED_EQ, bit, bit};
}

BpfProgram allowlist() {
  Filter filter(SCMP_ACT_ERRNO(ENOSYS));
  for (const int call : allowed_calls()) {
    if (call != SYS_personality) filter.allow(call);
  }
  filter.allow(SYS_personality, {is(0, 0)});
  filter.allow(SYS_personality, {is(0, kLowWord)});
  return filter.compile();
}

void deny_socket_families(Filter& filter, bool unix_sockets) {
  for (std::uint64_t family = 0; family <= AF_NETLINK; ++family) {
    const bool wanted =
        family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
    if (!wanted) filter.deny(EAFNOSUPPORT, SYS_socket, {is(0, family)});
  }
  // Of all 64 bits: there is no masked form.
  filter.deny(EAFNOSUPPORT, SYS_socket, {{0, SCMP_CMP_GT, AF_NETLINK, 0}});
  if (!unix_sockets) filter.deny(EPERM, SYS_socket, {is(0, AF_UNIX)});
}

void deny_set_id_mode(Filter& filter, std::uint64_t bit) {
  for (const int call : {SYS_chmod, SYS_creat, SYS_fchmod, SYS_mkdir, SYS_mknod}) {
    filter.deny(EPERM, call, {has_bit(1, bit)});
  }
  for (const int call : {SYS_fchmodat, kFchmodat2, SYS_mkdirat, SYS_mknodat}) {
    filter.deny(EPERM, call, {has_bit(2, bit)});
  }
  for (const int creating : {O_CREAT, O_TMPFILE & ~O_DIRECTORY}) {
    const auto flag = static_cast<std::uint64_t>(creating);
    filter.deny(EPERM, SYS_open, {has_bit(1, flag), has_bit(2, bit)});
    filter.deny(EPERM, SYS_openat, {has_bit(2, flag), has_bit(3, bit)});
  }
}

BpfProgram refusals(const SeccompOptions& options) {
  Filter filter(SCMP_ACT_ALLOW);
  for (const std::uint64_t flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                   CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_PARENT}) {
    filter.deny(EPERM, SYS_clone, {has_bit(0, flag)});
  }
  for (const std::uint64_t request : {TIOCSTI, TIOCLINUX, TIOCSETD}) {
    filter.deny(EPERM, SYS_ioctl, {is(1, request)});
  }
  deny_socket_families(filter, options.unix_sockets);
  deny_set_id_mode(filter, S_ISUID);
  deny_set_id_mode(filter, S_ISGID);
  return filter.compile();
}

}  // namespace

std::vector<BpfProgram> compile_by_libseccomp(const SeccompOptions& options) {
  std::vector<BpfProgram> both{allowlist(), refusals(options)};
  if (both[0].empty() || both[1].empty()) return {};
  return both;
}

}  // namespace cordon::linux_backend
