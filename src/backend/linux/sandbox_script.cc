#include "backend/linux/sandbox_script.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>

#include <algorithm>

#include "backend/linux/mounts.h"
#include "backend/linux/namespaces.h"
#include "backend/linux/privileges.h"
#include "backend/linux/program.h"

namespace cordon::linux_backend {
namespace {

using plan::View;
using spawner::Op;
using spawner::Role;

void join_groups(ScriptBuilder& script, const Cgroup* group) {
  if (group == nullptr) return;
  script.about("cgroup");
  for (const int fd : group->join_fds()) {
    const int sent = script.send_fd(fd);
    script.call(__NR_write, {sent, script.text("0"), 1});
    script.call(__NR_close, {sent});
  }
}

// Descriptors that init and the program have from the set-up process.
std::vector<int> groups_to_join(ScriptBuilder& script, const Cgroup* group) {
  std::vector<int> sent;
  if (group == nullptr) return sent;
  for (const int fd : group->join_each_fds()) sent.push_back(script.send_fd(fd));
  return sent;
}

}  // namespace

void write_script(ScriptBuilder& script, const SandboxParts& parts) {
  (void)script.send_fd(parts.status);  // must be the first …
  (void)script.send_fd(parts.letter);  // … and this the second
  std::uint64_t flags = CLONE_PARENT;
  if (parts.group != nullptr && parts.group->clone_fd() >= 0) {
    constexpr std::uint64_t kIntoCgroup = 0x200000000;  // CLONE_INTO_CGROUP
    flags |= kIntoCgroup;
    script.cgroup_fd(script.send_fd(parts.group->clone_fd()));
  }
  script.clone_flags(flags);

  std::optional<SecretFiles> files;
  if (parts.secrets != nullptr) files.emplace(script, *parts.secrets);
  MountSteps mounts(script, parts.views, files ? &*files : nullptr);
  ProgramSteps program{.plan = parts.plan,
                       .views = parts.views,
                       .mounts = mounts,
                       .groups = groups_to_join(script, parts.group),
                       .terminal = parts.terminal < 0 ? -1 : script.send_fd(parts.terminal),
                       .executable = {},
                       .umask = {},
                       .root_changed = {},
                       .filters = parts.filters,
                       .listener_flags = parts.listener_flags,
                       .nursery = parts.nursery};

  script.begin(Role::setup);
  // The sandbox's processes stay in its group until they have said that they are there: so none can
  // be lost, whenever it is killed.
  script.about("process group");
  script.call(__NR_setpgid, {0, 0});
  join_groups(script, parts.group);
  script.about("umask");
  program.umask = script.call_into(__NR_umask, {0});
  NamespaceFds namespaces;
  if (parts.network >= 0) namespaces.network = script.send_fd(parts.network);
  if (parts.identity != nullptr) {
    namespaces.user = script.send_fd(parts.identity->user_namespace.get());
    const int map = parts.mount_map < 0 ? -1 : script.send_fd(parts.mount_map);
    const int root = parts.root < 0 ? -1 : script.send_fd(parts.root);
    mounts.take_from_host(map, root);
    enter_namespaces(script, parts.plan, namespaces);
  } else {
    enter_namespaces(script, parts.plan, namespaces);
    mounts.take_by_path();
  }
  mounts.assemble();
  program.executable = mounts.executable();
  forbid_gaining(script);
  script.about("eventfd");
  program.root_changed = script.call_into(__NR_eventfd2, {0, EFD_CLOEXEC});
  script.about("clone");
  const auto child = [&](Role role) {
    script.op(Op::clone, {CLONE_PARENT, static_cast<std::uint64_t>(role)});
  };
  child(Role::init);
  child(Role::program);
  script.op(Op::exit);

  add_init(script, program);
  add_program(script, program);
}

Expected expectations(const SandboxParts& parts, const User& caller) {
  Expected expected;
  const User host = parts.identity != nullptr ? parts.identity->host : caller;
  expected.status = {.uid = host.uid,
                     .gid = host.gid,
                     .no_groups = parts.identity != nullptr,
                     .seccomp_filters = static_cast<int>(parts.filters.size())};
  expected.mounts.push_back({.target = "/"});
  for (const OpenView& open : parts.views) {
    const View& view = open.view;
    if (view.kind == View::Kind::file || view.kind == View::Kind::symlink) continue;
    expected.mounts.push_back({
        .target = view.target,
        .writable =
            view.writable || view.kind == View::Kind::proc || view.kind == View::Kind::devpts,
        .bind = view.kind == View::Kind::bind,
    });
  }
  expected.own_network = parts.plan.network != Network::host;
  return expected;
}

}  // namespace cordon::linux_backend
