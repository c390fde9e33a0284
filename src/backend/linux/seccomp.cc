#include "backend/linux/seccomp.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/linux/bpf_assembler.h"
#include "backend/linux/seccomp_calls.h"
#include "backend/linux/seccomp_observed.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using Label = BpfAssembler::Label;

constexpr std::uint32_t kX32Bit = 0x4000'0000;
constexpr std::uint32_t kSetIds = S_ISUID | S_ISGID;
// Without one of these the mode of open is not looked at, and may be anything.
constexpr std::uint32_t kCreating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
// CLONE_NEWTIME is not among clone's flags: its bit is part of the exit signal there.
constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
// The program's own parent is the supervisor, outside: a child given to it would be one that nobody
// there knows of, and a pid namespace does not end before its last process has been reaped.
constexpr std::uint32_t kNotOfClone = kNamespaces | CLONE_PARENT;

// The low 32 bits of an argument, which are all that the kernel reads of an int, a mode or clone's
// flags. A compare of all 64 could be walked around with the bits above.
constexpr std::uint32_t argument(unsigned index) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
}

// One filter: a search tree over the numbers of the calls, whose leaves are answers or checks of
// arguments. Ranges of calls with the same answer share a leaf, since the kernel's time to attach
// a filter grows with its length.
class Compiler {
 public:
  explicit Compiler(const SeccompOptions& options) : options_(options) {}

  std::optional<BpfProgram> compile() {
    const Label number = out_.make_label();
    out_.load(offsetof(seccomp_data, arch));
    out_.if_equal(AUDIT_ARCH_X86_64, number, kill_);
    out_.bind(number);
    out_.load(offsetof(seccomp_data, nr));
    if (options_.explain) observe();
    const auto leaves = ranges();
    search(leaves);
    checks();
    answers();
    return out_.finish();
  }

 private:
  struct Range {
    std::uint32_t first;
    Label leaf;
  };

  // Each begins where the one before ends; neighbours have different leaves.
  std::vector<Range> ranges() {
    std::map<std::uint32_t, Label> leaf_of;
    for (const int call : allowed_calls()) leaf_of[static_cast<std::uint32_t>(call)] = allow_;
    for (const int call : {SYS_chmod, SYS_creat, SYS_fchmod, SYS_mkdir, SYS_mknod}) {
      leaf_of[static_cast<std::uint32_t>(call)] = mode1_;
    }
    for (const int call : {SYS_fchmodat, kFchmodat2, SYS_mkdirat, SYS_mknodat}) {
      leaf_of[static_cast<std::uint32_t>(call)] = mode2_;
    }
    leaf_of[SYS_clone] = clone_;
    leaf_of[SYS_ioctl] = ioctl_;
    leaf_of[SYS_open] = open_;
    leaf_of[SYS_openat] = openat_;
    leaf_of[SYS_personality] = personality_;
    leaf_of[SYS_socket] = socket_;

    auto all = ranges_of(leaf_of, absent_);
    go_on_with(all, kX32Bit, kill_);
    go_on_with(all, 0xffff'ffff, absent_);  // syscall(-1), which some programs do to see ENOSYS
    return all;
  }

  static void go_on_with(std::vector<Range>& all, std::uint32_t first, Label leaf) {
    if (all.back().first == first) all.pop_back();
    if (all.empty() || all.back().leaf != leaf) all.push_back({first, leaf});
  }

  static std::vector<Range> ranges_of(const std::map<std::uint32_t, Label>& leaf_of,
                                      Label otherwise) {
    std::vector<Range> all{{0, otherwise}};
    for (const auto& [call, leaf] : leaf_of) {
      go_on_with(all, call, leaf);
      go_on_with(all, call + 1, otherwise);
    }
    return all;
  }

  // Before everything else: what the supervisor is asked about whatever the rules say. The rest
  // goes on to the rules. (In front, because a jump reaches no further than 255 instructions.)
  void observe() {
    const Label by_rules = out_.make_label();
    const Label ask = out_.make_label();
    const Label busy = out_.make_label();
    const Label none = out_.make_label();
    const Label stat = out_.make_label();
    const Label statx = out_.make_label();
    const Label send = out_.make_label();
    const Label listen = out_.make_label();
    std::map<std::uint32_t, Label> leaf_of;
    for (const int call : observed_calls()) leaf_of[static_cast<std::uint32_t>(call)] = ask;
    leaf_of[SYS_newfstatat] = stat;
    leaf_of[SYS_statx] = statx;
    leaf_of[SYS_sendto] = send;
    leaf_of[SYS_seccomp] = listen;
    auto leaves = ranges_of(leaf_of, by_rules);
    go_on_with(leaves, 0xffff'ffff, none);  // syscall(-1) is worth no question
    search(leaves);

    // fstat() by another name is asked for at every turn, and names nothing.
    any_bit(stat, 3, AT_EMPTY_PATH, by_rules, ask);
    any_bit(statx, 2, AT_EMPTY_PATH, by_rules, ask);
    // Without an address it is write(), and how the set-up reports.
    const Label upper_half = out_.make_label();
    out_.bind(send);
    out_.load(argument(4));
    out_.if_equal(0, upper_half, ask);
    out_.bind(upper_half);
    out_.load(argument(4) + sizeof(std::uint32_t));
    out_.if_equal(0, by_rules, ask);
    // No listener of the program's own, ever: the kernel prefers that of the newest filter, which
    // could let through what this one refuses once the supervisor's is gone. While that is there,
    // the kernel says the same.
    any_bit(listen, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, busy, by_rules);
    answer(ask, SECCOMP_RET_USER_NOTIF);
    answer(busy, SECCOMP_RET_ERRNO | EBUSY);
    answer(none, SECCOMP_RET_ERRNO | ENOSYS);
    out_.bind(by_rules);
    out_.load(offsetof(seccomp_data, nr));
  }

  // The accumulator holds the number; it is within these ranges.
  void search(std::span<const Range> among) {
    const auto upper = among.subspan(among.size() / 2);
    const auto lower = among.first(among.size() / 2);
    const auto entry = [this](std::span<const Range> half) {
      return half.size() == 1 ? half.front().leaf : out_.make_label();
    };
    const Label at_least = entry(upper);
    const Label below = entry(lower);
    out_.if_at_least(upper.front().first, at_least, below);
    for (const auto& [half, label] : {std::pair{lower, below}, std::pair{upper, at_least}}) {
      if (half.size() == 1) continue;
      out_.bind(label);
      search(half);
    }
  }

  void checks() {
    refuse_bits(clone_, 0, options_.nursery ? kNamespaces : kNotOfClone);
    check_open(open_, 1, mode2_);
    check_open(openat_, 2, mode3_);
    // A file in a write grant of a root caller is root's on the host: no setuid, no setgid.
    refuse_bits(mode1_, 1, kSetIds);
    refuse_bits(mode2_, 2, kSetIds);
    refuse_bits(mode3_, 3, kSetIds);
    // Typing into the terminal of somebody else, and changing what the terminal is.
    choose(ioctl_, 1,
           {{TIOCSTI, not_permitted_}, {TIOCLINUX, not_permitted_}, {TIOCSETD, not_permitted_}},
           allow_);
    choose(socket_, 0,
           {{AF_UNIX, options_.unix_sockets ? allow_ : not_permitted_},
            {AF_INET, allow_},
            {AF_INET6, allow_},
            {AF_NETLINK, allow_}},
           no_family_);
    // The default persona and the question for it: others switch address randomisation off.
    choose(personality_, 0, {{0, allow_}, {0xffff'ffff, allow_}}, not_permitted_);
  }

  void any_bit(Label label, unsigned index, std::uint32_t bits, Label then, Label otherwise) {
    out_.bind(label);
    out_.load(argument(index));
    out_.if_any_bit(bits, then, otherwise);
  }

  void refuse_bits(Label label, unsigned index, std::uint32_t bits) {
    any_bit(label, index, bits, not_permitted_, allow_);
  }

  void check_open(Label label, unsigned flags, Label mode) {
    any_bit(label, flags, kCreating, mode, allow_);
  }

  struct Case {
    std::uint32_t value;
    Label leaf;
  };
  void choose(Label label, unsigned index, std::initializer_list<Case> cases, Label otherwise) {
    out_.bind(label);
    out_.load(argument(index));
    for (auto it = cases.begin(); it != cases.end(); ++it) {
      const bool last = it + 1 == cases.end();
      const Label next = last ? otherwise : out_.make_label();
      out_.if_equal(it->value, it->leaf, next);
      if (!last) out_.bind(next);
    }
  }

  void answers() {
    answer(allow_, SECCOMP_RET_ALLOW);
    refusal(absent_, ENOSYS);
    refusal(not_permitted_, EPERM);
    refusal(no_family_, EAFNOSUPPORT);
    answer(kill_, SECCOMP_RET_KILL_PROCESS);
  }

  // An explained one is given by the supervisor, which learns of it so. Without a supervisor the
  // kernel gives ENOSYS.
  void refusal(Label label, std::uint32_t error) {
    answer(label, options_.explain ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | error);
  }

  void answer(Label label, std::uint32_t value) {
    out_.bind(label);
    out_.answer(value);
  }

  SeccompOptions options_;
  BpfAssembler out_;
  // Answers.
  Label allow_ = out_.make_label();
  Label absent_ = out_.make_label();
  Label not_permitted_ = out_.make_label();
  Label no_family_ = out_.make_label();
  Label kill_ = out_.make_label();  // i386 and x32: other numbers, of which no rule here speaks
  // Checks.
  Label clone_ = out_.make_label();
  Label ioctl_ = out_.make_label();
  Label mode1_ = out_.make_label();  // the mode is argument 1
  Label mode2_ = out_.make_label();
  Label mode3_ = out_.make_label();
  Label open_ = out_.make_label();
  Label openat_ = out_.make_label();
  Label personality_ = out_.make_label();
  Label socket_ = out_.make_label();
};

}  // namespace

Result<std::vector<BpfProgram>> compile_seccomp(const SeccompOptions& options) {
  auto program = Compiler(options).compile();
  if (!program) return base::fail(ErrorCode::system, "seccomp", "the filter is too long: a bug");
  return std::vector<BpfProgram>{std::move(*program)};
}

}  // namespace cordon::linux_backend
