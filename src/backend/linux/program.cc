#include "backend/linux/program.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <csignal>

#include "backend/linux/landlock.h"
#include "backend/linux/privileges.h"

namespace cordon::linux_backend {

using spawner::kExecutableFd;
using spawner::kFirstLetterFd;
using spawner::kLetterFd;
using spawner::kStatusFd;
using spawner::Op;
using spawner::Role;

namespace {

constexpr unsigned kAllAbove = ~0U;
constexpr std::size_t kSignalSetSize = 8;
constexpr int kOutOfTheWay = 128;  // above those that have their places

// Nothing is left but what the letter needs. Its own descriptors get the numbers that are free
// then: those of the streams, and the ones behind kExecutableFd.
void place_descriptors(ScriptBuilder& script, int terminal,
                       const std::optional<Register>& pinned = std::nullopt) {
  script.about("session");
  script.call(__NR_setsid, {});
  if (terminal >= 0) {
    script.about("terminal");
    script.call(__NR_ioctl, {terminal, TIOCSCTTY, 0});
  }
  if (pinned) {
    script.about("pin");
    const Register executable =
        script.call_into(__NR_fcntl, {*pinned, F_DUPFD_CLOEXEC, kOutOfTheWay});
    script.call(__NR_dup3, {executable, kExecutableFd, O_CLOEXEC});
  } else {
    script.about("close_range");
    script.call(__NR_dup3, {kLetterFd, kExecutableFd, O_CLOEXEC});  // the number stays taken
  }
  script.about("close_range");
  script.call(__NR_close_range, {0, kStatusFd - 1, 0});
  script.call(__NR_close_range, {kFirstLetterFd, kAllAbove, 0});
}

void join_groups(ScriptBuilder& script, const std::vector<int>& groups) {
  script.about("cgroup");
  for (const int tasks : groups) script.call(__NR_write, {tasks, script.text("0"), 1});
}

// And makes them the root of what can be seen of groups, so that they have no names there.
void join(ScriptBuilder& script, const std::vector<int>& groups) {
  join_groups(script, groups);
  script.about("namespaces", "cgroup");
  script.call(__NR_unshare, {CLONE_NEWCGROUP});
}

}  // namespace

void add_init(ScriptBuilder& script, const ProgramSteps& steps) {
  script.begin(Role::init);
  script.about("init");
  // If the supervisor has died before, it cannot be told that this process is here.
  script.call(__NR_prctl, {PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0});
  script.op(Op::here);
  join(script, steps.groups);
  script.about("init");
  script.call(__NR_setsid, {});
  script.call(__NR_prctl, {PR_SET_NAME, script.text("cordon-init"), 0, 0, 0});
  // Ignoring SIGCHLD makes the kernel reap what is orphaned: nothing to do here, ever.
  const struct {
    std::uint64_t handler = 1;  // SIG_IGN
    std::uint64_t rest[3] = {};
  } ignore{};
  script.call(__NR_rt_sigaction, {SIGCHLD, script.object(ignore), 0, kSignalSetSize});
  script.call(__NR_read,
              {steps.root_changed, script.object(std::uint64_t{0}), sizeof(std::uint64_t)});
  steps.mounts.drop_host_root();
  script.about("init");
  script.call(__NR_close_range, {0, kStatusFd - 1, 0});
  script.call(__NR_close_range, {kStatusFd + 1, kAllAbove, 0});
  drop_capabilities(script);
  script.about("init");
  script.call(__NR_prctl, {PR_SET_DUMPABLE, 0, 0, 0, 0});
  // Before it is ready: what failed later could only be seen as the program's sudden end.
  install_filters(script, {init_filter()});
  script.about("init", "ready");
  script.op(Op::ready);
  // The signal set above comes only if the supervisor's thread was alive then. It may have been on
  // its way out, with its end of the socket still open: only what it says now proves it.
  script.about("init", "released");
  script.op(Op::await);
  script.call(__NR_close, {kStatusFd});
  script.op(Op::sleep);
}

void add_program(ScriptBuilder& script, const ProgramSteps& steps) {
  script.begin(Role::program);
  script.about("set-up");
  script.op(Op::here);
  join(script, steps.groups);
  steps.mounts.enter();
  script.about("set-up");
  script.call(__NR_write,
              {steps.root_changed, script.object(std::uint64_t{1}), sizeof(std::uint64_t)});
  place_descriptors(script, steps.terminal, steps.executable);
  script.about("chdir", steps.plan.cwd);
  script.call(__NR_chdir, {script.text(steps.plan.cwd)});
  script.about("umask");
  script.call(__NR_umask, {steps.umask});
  drop_capabilities(script);
  restrict_by_landlock(script, steps.plan.landlock_abi, steps.views, steps.plan.network);
  script.about("dumpable");
  script.call(__NR_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0});  // so that it can be looked at
  if (steps.listener_flags) {
    install_listening_filter(script, steps.filters.front(), *steps.listener_flags);
  } else {
    install_filters(script, steps.filters);
  }
  if (steps.nursery) {
    script.about("nursery");
    script.call(__NR_prctl, {PR_SET_NAME, script.text("cordon-nursery"), 0, 0, 0});
  }
  script.about("park");
  script.op(steps.nursery ? Op::nurse : Op::receive);
}

void add_hatched(ScriptBuilder& script, const HatchedSteps& steps) {
  script.begin(Role::program);
  script.about("set-up");
  script.op(Op::here);
  join_groups(script, steps.groups);
  place_descriptors(script, steps.terminal);
  install_filters(script, steps.filters);
  // Last: what runs inside may look at it from now on, and it can do no more than they can.
  script.about("dumpable");
  script.call(__NR_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0});
  script.about("park");
  script.op(Op::receive);
}

}  // namespace cordon::linux_backend
