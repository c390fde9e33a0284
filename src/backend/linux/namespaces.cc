#include "backend/linux/namespaces.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cstring>
#include <string>

namespace cordon::linux_backend {
namespace {

void write_file(ScriptBuilder& script, const char* path, const std::string& content) {
  const Register file =
      script.call_into(__NR_openat, {AT_FDCWD, script.text(path), O_WRONLY | O_CLOEXEC, 0});
  script.call(__NR_write, {file, script.text(content), content.size()});
  script.close(file);
}

std::string map_line(std::uint32_t inside, std::uint32_t outside) {
  return std::to_string(inside) + " " + std::to_string(outside) + " 1";
}

// An ordinary user may map only itself, and must give up setgroups() for it.
void make_own_user_namespace(ScriptBuilder& script, const plan::Identity& identity) {
  script.about("user namespace");
  script.call(__NR_unshare, {CLONE_NEWUSER});
  script.about("user namespace", "id maps");
  script.call(__NR_prctl, {PR_SET_DUMPABLE, 1, 0, 0, 0});  // else these files belong to root
  write_file(script, "/proc/self/setgroups", "deny");
  write_file(script, "/proc/self/uid_map", map_line(identity.uid, identity.host->uid));
  write_file(script, "/proc/self/gid_map", map_line(identity.gid, identity.host->gid));
}

// The loopback interface of the process's network namespace.
void raise_loopback(ScriptBuilder& script) {
  script.about("loopback");
  ifreq request{};
  std::strncpy(request.ifr_name, "lo", IFNAMSIZ);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const Register socket = script.call_into(__NR_socket, {AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0});
  script.call(__NR_ioctl, {socket, SIOCSIFFLAGS, script.object(request)});
  script.close(socket);
}

}  // namespace

void enter_namespaces(ScriptBuilder& script, const plan::SandboxPlan& plan,
                      const NamespaceFds& fds) {
  const plan::Identity& id = plan.identity;
  if (fds.network >= 0 && fds.user >= 0) {
    script.about("network namespace");
    script.call(__NR_setns, {fds.network, CLONE_NEWNET});
    script.call(__NR_close, {fds.network});
    // Before the rights over this namespace are given up.
    if (plan.network == Network::loopback) raise_loopback(script);
  }
  if (fds.user >= 0) {
    script.about("user namespace");
    script.call(__NR_setns, {fds.user, CLONE_NEWUSER});
    script.call(__NR_close, {fds.user});
    script.about("identity", "supplementary groups");
    script.call(__NR_setgroups, {0, 0});
  } else {
    make_own_user_namespace(script, id);
  }
  script.about("identity", std::to_string(id.uid) + ":" + std::to_string(id.gid));
  script.call(__NR_setresgid, {id.gid, id.gid, id.gid});
  script.call(__NR_setresuid, {id.uid, id.uid, id.uid});

  // That of control groups is made by those who stay (program.cc).
  std::uint64_t rest = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  const bool own_network = plan.network != Network::host && fds.network < 0;
  if (own_network) rest |= CLONE_NEWNET;
  script.about("namespaces");
  script.call(__NR_unshare, {rest});
  script.about("host name");
  constexpr std::string_view kHostName = "cordon";
  script.call(__NR_sethostname, {script.text(kHostName), kHostName.size()});
  if (own_network && plan.network == Network::loopback) raise_loopback(script);
}

}  // namespace cordon::linux_backend
