// An explained run may do what an ordinary one may, and nothing more: seen by running both filters
// over every system call.
#include "backend/linux/explain_reply.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "backend/linux/bpf_evaluator.h"
#include "backend/linux/seccomp_calls.h"
#include "backend/linux/seccomp_names.h"
#include "backend/linux/seccomp_observed.h"
#include "base/sha256.h"

namespace cordon::linux_backend {
namespace {

constexpr std::uint32_t kX32 = 0x4000'0000;

std::vector<BpfProgram> compiled(const SeccompOptions& options) {
  auto filters = compile_seccomp(options);
  EXPECT_TRUE(filters) << filters.error().message;
  return filters.value_or(std::vector<BpfProgram>{});
}

seccomp_data call(int number, std::array<std::uint64_t, 6> arguments = {},
                  std::uint32_t arch = AUDIT_ARCH_X86_64) {
  seccomp_data data{.nr = number, .arch = arch, .instruction_pointer = 0, .args = {}};
  std::copy(arguments.begin(), arguments.end(), data.args);
  return data;
}

// Values that some rule tells apart, or that differ from one only in bits that no rule may read.
const std::vector<std::uint64_t>& interesting() {
  static const std::vector<std::uint64_t> kAll = [] {
    std::vector<std::uint64_t> all{0,
                                   1,
                                   2,
                                   8,
                                   AF_UNIX,
                                   AF_INET,
                                   AF_INET6,
                                   AF_NETLINK,
                                   AF_PACKET,
                                   38,
                                   TIOCSTI,
                                   TIOCLINUX,
                                   TIOCSETD,
                                   O_CREAT,
                                   O_TMPFILE,
                                   O_CREAT | O_WRONLY,
                                   S_ISUID,
                                   S_ISGID | 0755,
                                   0755,
                                   CLONE_NEWUSER,
                                   CLONE_NEWNS | CLONE_NEWPID,
                                   CLONE_VM | CLONE_THREAD,
                                   AT_EMPTY_PATH,
                                   0xffff'ffff,
                                   ~std::uint64_t{0}};
    for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] | 1ULL << 32);
    return all;
  }();
  return kAll;
}

// Each interesting value at each place, beside arguments that the rules look at together.
template <typename Check>
void for_every_call(const Check& check) {
  std::vector<int> numbers;
  for (int number = 0; number < 600; ++number) numbers.push_back(number);
  for (const int number : {0, 1, 59, 165, 317, 520, 0x1000}) {
    numbers.push_back(static_cast<int>(kX32 | static_cast<unsigned>(number)));
  }
  numbers.insert(numbers.end(), {-1, -2, 0x7fff'ffff});
  for (const int number : numbers) {
    for (const std::uint64_t rest : {std::uint64_t{0}, std::uint64_t{O_CREAT}}) {
      for (std::size_t place = 0; place < 6; ++place) {
        for (const std::uint64_t value : interesting()) {
          std::array<std::uint64_t, 6> arguments;
          arguments.fill(rest);
          arguments[place] = value;
          check(call(number, arguments));
        }
      }
    }
    check(call(number, {}, AUDIT_ARCH_I386));
  }
}

class ExplainReplyTest : public testing::TestWithParam<bool> {
 protected:
  const std::vector<BpfProgram> ordinary_ = compiled({.unix_sockets = GetParam()});
  const std::vector<BpfProgram> explained_ =
      compiled({.unix_sockets = GetParam(), .explain = true});
};

// The one place where a call is let go on, by kernel or supervisor.
TEST_P(ExplainReplyTest, NothingPassesThatAnOrdinaryRunRefuses) {
  int passing = 0;
  int asked = 0;
  for_every_call([&](const seccomp_data& data) {
    const auto before = evaluate(ordinary_, data);
    const auto now = evaluate(explained_, data);
    ASSERT_TRUE(before && now) << data.nr;
    const bool asks = *now == SECCOMP_RET_USER_NOTIF;
    asked += asks ? 1 : 0;
    const bool passes = *now == SECCOMP_RET_ALLOW || (asks && reply_to(ordinary_, data) == 0);
    passing += passes ? 1 : 0;
    ASSERT_TRUE(!passes || *before == SECCOMP_RET_ALLOW) << data.nr;
  });
  EXPECT_GT(passing, 1000);
  EXPECT_GT(asked, 1000);
}

// … and the program sees the same of it, but for a listener of its own.
TEST_P(ExplainReplyTest, AnswersAreThoseOfAnOrdinaryRun) {
  for_every_call([&](const seccomp_data& data) {
    const auto before = *evaluate(ordinary_, data);
    const auto now = *evaluate(explained_, data);
    if (now != SECCOMP_RET_USER_NOTIF) {
      const bool listener = data.nr == SYS_seccomp && (data.args[1] & 8) != 0;
      const std::uint32_t busy = SECCOMP_RET_ERRNO | EBUSY;
      ASSERT_EQ(now, listener && before == SECCOMP_RET_ALLOW ? busy : before) << data.nr;
    } else if (before == SECCOMP_RET_ALLOW) {
      ASSERT_EQ(reply_to(ordinary_, data), 0) << data.nr;
    } else {
      ASSERT_EQ(SECCOMP_RET_ERRNO | static_cast<unsigned>(reply_to(ordinary_, data)), before)
          << data.nr;
    }
  });
}

TEST_P(ExplainReplyTest, EveryRefusalIsAskedAbout) {
  for_every_call([&](const seccomp_data& data) {
    const auto before = *evaluate(ordinary_, data);
    if ((before & SECCOMP_RET_ACTION_FULL) != SECCOMP_RET_ERRNO || data.nr == -1) return;
    ASSERT_EQ(*evaluate(explained_, data), SECCOMP_RET_USER_NOTIF) << data.nr;
  });
}

TEST_P(ExplainReplyTest, WhatTheSetUpStillCallsIsNotAskedAbout) {
  // Until the observer listens: report, hand over, close, wait for the release.
  for (const int number : {SYS_sendto, SYS_sendmsg, SYS_close, SYS_read, SYS_exit_group}) {
    EXPECT_EQ(evaluate(explained_, call(number)), SECCOMP_RET_ALLOW) << number;
  }
}

INSTANTIATE_TEST_SUITE_P(UnixSockets, ExplainReplyTest, testing::Bool());

// The kernel prefers the listener of the newest filter. One of the program's own would take the
// supervisor's place as soon as that is gone, and could let everything through.
TEST(ExplainFilterTest, ProgramCannotHaveAListenerOfItsOwn) {
  const auto explained = compiled({.explain = true});
  for (const std::uint64_t flags : {8ULL, 8ULL | 1, 8ULL | 32, 8ULL | 1ULL << 32}) {
    EXPECT_EQ(evaluate(explained, call(SYS_seccomp, {1, flags, 0x1000})),
              SECCOMP_RET_ERRNO | EBUSY);
  }
  EXPECT_EQ(evaluate(explained, call(SYS_seccomp, {1, 0, 0x1000})), SECCOMP_RET_ALLOW);
}

TEST(ExplainFilterTest, WithoutRulesNothingGoesOn) {
  EXPECT_EQ(reply_to({}, call(SYS_read)), ENOSYS);
  EXPECT_EQ(reply_to({BpfProgram{}}, call(SYS_read)), ENOSYS);
  const auto answering = [](std::uint32_t value) {
    return std::vector<BpfProgram>{{BPF_STMT(BPF_RET | BPF_K, value)}};
  };
  EXPECT_EQ(reply_to(answering(SECCOMP_RET_ALLOW), call(SYS_read)), 0);
  EXPECT_EQ(reply_to(answering(SECCOMP_RET_ERRNO | EPERM), call(SYS_read)), EPERM);
  for (const std::uint32_t other :
       {SECCOMP_RET_ERRNO, SECCOMP_RET_LOG, SECCOMP_RET_TRACE, SECCOMP_RET_TRAP,
        SECCOMP_RET_USER_NOTIF, SECCOMP_RET_KILL_THREAD, SECCOMP_RET_KILL_PROCESS}) {
    EXPECT_EQ(reply_to(answering(other), call(SYS_read)), ENOSYS) << other;
  }
}

TEST(ExplainFilterTest, WhatIsObservedIsAllowedOtherwise) {
  const auto ordinary = compiled({});
  for (const int number : observed_calls()) {
    EXPECT_EQ(reply_to(ordinary, call(number)), 0) << system_call_name(number);
    if (number == SYS_sendto) continue;
    EXPECT_EQ(evaluate(compiled({.explain = true}), call(number, {0, 0x1000})),
              SECCOMP_RET_USER_NOTIF)
        << system_call_name(number);
  }
}

// A run that is not explained pays nothing. These change with the list of system calls, and with
// nothing else.
TEST(ExplainFilterTest, OrdinaryFiltersAreWhatTheyWereBefore) {
  const auto digest = [](const SeccompOptions& options) {
    const auto filters = compiled(options);
    EXPECT_EQ(filters.size(), 1U);
    std::string bytes(filters.front().size() * sizeof(sock_filter), '\0');
    std::memcpy(bytes.data(), filters.front().data(), bytes.size());
    return base::to_hex(base::sha256(bytes));
  };
  EXPECT_EQ(digest({}), "6e738782d35a9b19ac6dfc5b38443c3e42c7e73a846280af9d9daa8c11383d28");
  EXPECT_EQ(digest({.unix_sockets = false}),
            "ff33dff44ae19fa33bfbc12f623d181709be6d05a17cc118b7b8764219431247");
}

TEST(ExplainFilterTest, RefusedCallsAreNamed) {
  EXPECT_EQ(refused_call(call(SYS_mount)).what, "mount");
  EXPECT_EQ(refused_call(call(SYS_ptrace)).what, "ptrace");
  EXPECT_EQ(refused_call(call(SYS_io_uring_setup)).what, "io_uring_setup");
  EXPECT_EQ(refused_call(call(457)).what, "statmount");
  EXPECT_EQ(refused_call(call(599)).what, "system call 599");
  EXPECT_EQ(refused_call(call(SYS_mount)).kind, Denial::Kind::system_call);
  EXPECT_EQ(refused_call(call(SYS_mount)).allow, "");
  EXPECT_NE(refused_call(call(SYS_socket, {AF_UNIX})).reason.find("--no-unix"), std::string::npos);
  EXPECT_NE(refused_call(call(SYS_socket, {AF_PACKET})).reason.find("packet"), std::string::npos);
  EXPECT_NE(refused_call(call(SYS_chmod, {0, S_ISUID})).reason.find("setuid"), std::string::npos);
}

TEST(ExplainFilterTest, EveryAllowedCallHasAName) {
  for (const int number : allowed_calls()) {
    EXPECT_EQ(system_call_name(number).find(' '), std::string::npos) << number;
  }
}

}  // namespace
}  // namespace cordon::linux_backend
