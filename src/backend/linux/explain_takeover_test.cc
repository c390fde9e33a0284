// What the kernel does when a listener is gone and the program makes one of its own: the reason for
// one rule of the explained filter, and that the rule holds.
#include <gtest/gtest.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "backend/linux/seccomp.h"

namespace cordon::linux_backend {
namespace {

// Exit codes of the children; no errno of these tests is among them.
constexpr int kCannotInstall = 101;
constexpr int kNoChild = 102;

int install(const BpfProgram& filter) {
  sock_fprog program{.len = static_cast<unsigned short>(filter.size()),
                     .filter = const_cast<sock_filter*>(filter.data())};
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

// Asks about mount(), and has no other rule.
BpfProgram asking_about_mount() {
  return {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
}

int errno_of_mount() {
  return ::syscall(SYS_mount, nullptr, nullptr, nullptr, 0, nullptr) == 0 ? 0 : errno;
}

// A child of the program calls, the program lets it go on.
int mount_with_own_answer(int listener) {
  const pid_t child = ::fork();
  if (child < 0) return kNoChild;
  if (child == 0) ::_exit(errno_of_mount());
  seccomp_notif heard{};
  if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &heard) == 0) {
    seccomp_notif_resp answer{};
    answer.id = heard.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                    : kNoChild;
}

// Under `filter`, whose listener is closed at once: what comes of mount() after the attempt to make
// a listener. Or the errno of that attempt.
int take_over(const BpfProgram& filter) {
  const BpfProgram own = asking_about_mount();
  const pid_t child = ::fork();
  if (child < 0) return kNoChild;
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const int theirs = install(filter);
    if (theirs < 0) ::_exit(kCannotInstall);
    ::close(theirs);
    const int listener = install(own);
    ::_exit(listener < 0 ? errno : mount_with_own_answer(listener));
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
                                                                    : kNoChild;
}

TEST(ExplainTakeoverTest, KernelLetsANewListenerDecideForAnOlderOneThatIsGone) {
  const int came_of_it = take_over(asking_about_mount());
  EXPECT_LT(came_of_it, kCannotInstall);
  EXPECT_NE(came_of_it, ENOSYS) << "the kernel itself was called: there is something to guard";
  EXPECT_NE(came_of_it, EBUSY);
}

TEST(ExplainTakeoverTest, ExplainedProgramCannot) {
  const auto filters = compile_seccomp({.explain = true});
  ASSERT_TRUE(filters);
  EXPECT_EQ(take_over(filters->front()), EBUSY);
}

TEST(ExplainTakeoverTest, WithoutAListenerEverythingThatAsksIsRefused) {
  const auto filters = compile_seccomp({.explain = true});
  ASSERT_TRUE(filters);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const int listener = install(filters->front());
    if (listener < 0) ::_exit(kCannotInstall);
    ::close(listener);
    const bool opened = ::syscall(SYS_openat, -100, "/", 0) >= 0;
    ::_exit(opened ? 0 : errno_of_mount());
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), ENOSYS);
}

}  // namespace
}  // namespace cordon::linux_backend
