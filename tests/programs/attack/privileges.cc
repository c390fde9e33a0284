// Rights that were given up.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "attack.h"

namespace attack {
namespace {

void is_root(Args /*args*/) {
  if (::geteuid() != 0) stopped("it is an ordinary user's", EPERM);
  reached("euid 0");
}

// A setuid copy of this program.
void exec_setuid(Args args) {
  char name[] = "attack";
  char what[] = "is-root";
  char* const argv[] = {name, what, nullptr};
  ::execv(args[0], argv);
  stopped("exec");
}

void become_root(Args /*args*/) {
  if (::setresuid(0, 0, 0) != 0 && ::setuid(0) != 0 && ::setreuid(0, 0) != 0) stopped("setuid");
  reached("setuid");
}

void become_other_user(Args args) {
  const auto uid = static_cast<uid_t>(std::strtoul(args[0], nullptr, 10));
  judge("setresuid", ::setresuid(uid, uid, uid));
}

void join_group(Args /*args*/) {
  const gid_t root = 0;
  judge("setgroups", ::syscall(SYS_setgroups, 1, &root));
}

void regain_capabilities(Args /*args*/) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct all[2]{{~0U, ~0U, ~0U}, {~0U, ~0U, ~0U}};
  ::syscall(SYS_capset, &header, all);
  for (unsigned long capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    // In the bounding set: an executable with file capabilities would bring it back.
    if (::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1) reached("the bounding set");
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0) reached("ambient");
  }
  __user_cap_data_struct have[2]{};
  if (::syscall(SYS_capget, &header, have) != 0) untried("capget");
  if ((have[0].effective | have[0].permitted | have[1].effective | have[1].permitted) == 0) {
    stopped("no capability", EPERM);
  }
  reached("a capability");
}

void undo_securebits(Args /*args*/) { judge("PR_SET_SECUREBITS", ::prctl(PR_SET_SECUREBITS, 0)); }

void no_new_privileges(Args /*args*/) {
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0);
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) stopped("it is set", EPERM);
  reached("not set");
}

void set_limit(Args args) {
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = std::strtoul(args[0], nullptr, 10);
  judge("setrlimit", ::setrlimit(RLIMIT_NOFILE, &limit));
}

void open_many(Args args) {
  for (int i = std::atoi(args[0]); i > 0; --i) {
    if (::dup(0) < 0) stopped("dup");
  }
  reached("all of them");
}

void may_dump_core(Args /*args*/) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) != 0) untried("getrlimit");
  limit.rlim_cur = limit.rlim_max = 1 << 20;
  judge("setrlimit", ::setrlimit(RLIMIT_CORE, &limit));
}

void be_urgent(Args /*args*/) { judge("setpriority", ::setpriority(PRIO_PROCESS, 0, -5)); }

constexpr Entry kAll[] = {
    {"is-root", is_root},
    {"exec-setuid", exec_setuid, 1},
    {"become-root", become_root},
    {"become-other-user", become_other_user, 1},
    {"join-group", join_group},
    {"regain-capabilities", regain_capabilities},
    {"undo-securebits", undo_securebits},
    {"no-new-privileges", no_new_privileges},
    {"set-limit", set_limit, 1},
    {"open-many", open_many, 1},
    {"dump-core", may_dump_core},
    {"be-urgent", be_urgent},
};

}  // namespace

std::span<const Entry> privilege_attacks() { return kAll; }

}  // namespace attack
