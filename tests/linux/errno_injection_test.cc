// A system call that the set-up needs is refused from outside, as a container's filter would do:
// the run fails cleanly, or has everything its plan declares.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>

#include "cordon/run.h"
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using testing::ContainsRegex;
using testing::HasSubstr;

struct Call {
  const char* name;
  long number;
};
#define CORDON_CALL(name) \
  Call { #name, SYS_##name }
// Not sendto: without it nothing can be heard of any process.
constexpr Call kCalls[] = {
    CORDON_CALL(acct),  // which nobody needs
    CORDON_CALL(clone3),
    CORDON_CALL(unshare),
    CORDON_CALL(setns),
    CORDON_CALL(mount),
    CORDON_CALL(mount_setattr),
    CORDON_CALL(open_tree),
    CORDON_CALL(fsopen),
    CORDON_CALL(fsconfig),
    CORDON_CALL(fsmount),
    CORDON_CALL(move_mount),
    CORDON_CALL(pivot_root),
    CORDON_CALL(umount2),
    CORDON_CALL(setresuid),
    CORDON_CALL(setresgid),
    CORDON_CALL(setgroups),
    CORDON_CALL(prctl),
    CORDON_CALL(capset),
    CORDON_CALL(landlock_create_ruleset),
    CORDON_CALL(landlock_add_rule),
    CORDON_CALL(landlock_restrict_self),
    CORDON_CALL(seccomp),
    CORDON_CALL(prlimit64),
    CORDON_CALL(close_range),
    CORDON_CALL(dup3),
    CORDON_CALL(setsid),
    CORDON_CALL(setpgid),
    CORDON_CALL(mkdirat),
    CORDON_CALL(mknodat),
    CORDON_CALL(symlinkat),
    CORDON_CALL(openat2),
    CORDON_CALL(chdir),
    CORDON_CALL(fchdir),
    CORDON_CALL(umask),
    CORDON_CALL(sethostname),
    CORDON_CALL(socket),
    CORDON_CALL(ioctl),
    CORDON_CALL(rt_sigaction),
    CORDON_CALL(execve),
    CORDON_CALL(memfd_create),
    CORDON_CALL(socketpair),
    CORDON_CALL(setsockopt),
    CORDON_CALL(sendmsg),
    CORDON_CALL(pidfd_open),
};
#undef CORDON_CALL

[[nodiscard]] bool refuse(long number, int error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(code), .filter = code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

// What a program says that did run.
void expect_restricted(const Call& call, const Outcome& outcome) {
  const std::string& status = outcome.out;
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1\n"));
  EXPECT_THAT(status, HasSubstr("Seccomp:\t2\n"));
  EXPECT_THAT(status, HasSubstr("Seccomp_filters:\t2\n"));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"}) {
    EXPECT_THAT(status, HasSubstr(std::string(set) + ":\t0000000000000000\n"));
  }
  EXPECT_THAT(status, ContainsRegex("Max open files +64 "));
  EXPECT_THAT(status, ContainsRegex("NSpid:.*\t[0-9]\n"));
  if (std::string_view(call.name).starts_with("landlock")) {
    EXPECT_THAT(describe(outcome.enforcement.filesystem), HasSubstr("no Landlock"));
  }
}

void run_without(const Call& call, int error, const std::string& mark) {
  ::alarm(60);
  const bool needed = call.number != SYS_acct;
  const Traces before = traces();
  ASSERT_TRUE(refuse(call.number, error));
  {
    auto backend = linux_manager();
    if (!backend) {
      EXPECT_TRUE(needed);
      EXPECT_FALSE(backend.error().message.empty());
    } else {
      Request request{
          .program = "/bin/sh",
          .args = {"-c", "echo > " + mark + "; cat /proc/self/status /proc/self/limits"},
          .cwd = "/usr"};
      request.grants.push_back(Grant::write(std::filesystem::path(mark).parent_path()));
      request.limits.open_files = 64;
      request.network = Network::loopback;
      request.timeout = 20s;
      const Outcome ran = cordon::run(**backend, std::move(request));
      if (ran.verdict == Verdict::exited || !needed) {
        EXPECT_EQ(ran.exit_code, 0) << to_json(ran);
        expect_restricted(call, ran);
      } else {
        EXPECT_EQ(ran.verdict, Verdict::failed_to_start) << to_json(ran);
        EXPECT_EQ(exit_status(ran), 125) << to_json(ran);
        ASSERT_TRUE(ran.error);
        EXPECT_FALSE(ran.error->message.empty());
        EXPECT_FALSE(std::filesystem::exists(mark)) << "the program ran";
      }
    }
  }
  std::filesystem::remove(mark);
  EXPECT_EQ(traces_settled(before), before);
}

class EachCall : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(GetParam()); }
};

TEST_P(EachCall, ThatIsRefusedNeverMakesASandboxWeaker) {  // C40
  const Folder folder;
  for (const int error : {EPERM, ENOSYS}) {
    for (const Call& call : kCalls) {
      SCOPED_TRACE(std::string(call.name) + " refused with " + std::to_string(error));
      in_own_process(GetParam() ? kOrdinaryUser : ::geteuid(),
                     [&] { run_without(call, error, folder.path("ran")); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, EachCall, testing::Bool(), [](const auto& ordinary) {
  return ordinary.param ? "OrdinaryUser" : "Caller";
});

}  // namespace
}  // namespace cordon::linux_tests
