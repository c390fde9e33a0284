#include "backend/linux/linux_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "backend/linux/exec_paths.h"
#include "backend/linux/inside_environment.h"
#include "backend/linux/mounts.h"
#include "backend/linux/sandbox_script.h"
#include "backend/linux/secret_parts.h"
#include "backend/posix/lookup.h"
#include "backend/posix/secret_files.h"
#include "base/errors.h"

namespace cordon::linux_backend {

namespace {

User caller_ids() { return {.uid = ::geteuid(), .gid = ::getegid()}; }

// Empty if it cannot be: then it ends with the last process in it.
base::Fd open_mount_namespace(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/ns/mnt";
  return base::move_up(base::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

bool has_grants(const std::vector<OpenView>& views) {
  for (const OpenView& open : views) {
    if (open.view.granted && open.source) return true;
  }
  return false;
}

// The program's terminal is one of the host's, which its own /dev/pts does not show: programs that
// ask for its name find it as the console.
Result<void> show_terminal(std::vector<OpenView>& views, int terminal) {
  char path[64] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(terminal);
  if (::readlink(link.c_str(), path, sizeof path - 1) < 0) {
    return base::fail_os("terminal", errno, "finding out the name of the program's terminal");
  }
  auto opened =
      open_views({{.kind = plan::View::Kind::device, .target = "/dev/console", .source = path}});
  if (!opened) return std::unexpected(std::move(opened.error()));
  views.push_back(std::move(opened->front()));
  return {};
}

Result<RootViews> open_own(const std::vector<plan::View>& views) {
  auto opened = open_views(views);
  if (!opened) return std::unexpected(std::move(opened.error()));
  return RootViews{.views = std::move(*opened), .root = nullptr};
}

}  // namespace

// The kernel takes its time to free namespaces and groups; nobody has to wait for that.
LinuxChild::~LinuxChild() {
  sandbox_ = Sandbox{};
  backend_.identities().give_back(std::move(identity_));
  if (group_ || network_ || mounts_) {
    backend_.keeper().post([group = std::shared_ptr<Cgroup>(std::move(group_)),
                            network = std::make_shared<base::Fd>(std::move(network_)),
                            mounts = std::make_shared<base::Fd>(std::move(mounts_))] {});
  }
}

Result<void> LinuxChild::launch(const supervise::LaunchSpec& spec) {
  const Request& request = spec.request;
  end_at_process_limit_ = request.end_at_process_limit;
  auto place = backend_.place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));

  if ((*place)->host.privileged) {
    auto identity = backend_.identities().take(plan_.identity);
    if (!identity) return std::unexpected(std::move(identity.error()));
    identity_ = std::move(*identity);
  }
  // A terminal is shown among the devices, and a weakened set-up is to be seen whole.
  const bool shared_root = (*place)->host.privileged && !request.terminal &&
                           backend_.weakened().left_out.empty() &&
                           !backend_.weakened().nothing_ahead;
  auto root = shared_root ? backend_.roots().open(plan_.root) : open_own(plan_.root);
  if (!root) return std::unexpected(std::move(root.error()));
  auto* const views = &root->views;
  if (request.terminal) {
    if (auto shown = show_terminal(*views, spec.stdio[0]); !shown) return shown;
  }
  if (auto added = add_pins(*views, plan_.pins, request); !added) return added;
  auto filters = backend_.filters({.unix_sockets = plan_.unix_sockets, .explain = plan_.explain});
  if (!filters) return std::unexpected(std::move(filters.error()));
  std::optional<unsigned> flags;
  if (plan_.explain) {
    auto known = listener_flags();
    if (!known) return std::unexpected(std::move(known.error()));
    flags = *known;
  }
  auto status = StatusSocket::make();
  if (!status) return std::unexpected(std::move(status.error()));

  if ((*place)->groups) {
    auto group = backend_.make_group(request.cgroup_parent, plan_.groups, end_at_process_limit_);
    if (!group) return std::unexpected(std::move(group.error()));
    group_ = std::move(*group);
  }
  if (backend_.makes_network_ahead(plan_, **place)) {
    network_ = backend_.networks().take().value_or(base::Fd());
  }
  const User caller = caller_ids();
  int mount_map = -1;
  // A named user has files of its own; one made for the run has only what it is lent.
  if (identity_ && !plan_.identity.host && has_grants(*views)) {
    auto map = backend_.identities().mount_map(*identity_, caller);
    if (!map) return std::unexpected(std::move(map.error()));
    mount_map = *map;
  }

  auto secrets = open_secrets(request);
  if (!secrets) return std::unexpected(std::move(secrets.error()));
  std::vector<std::string> environment =
      inside_environment(posix::environment_for(request), request, plan_);
  std::ranges::move(posix::secret_places(request, kFirstSecretFd), std::back_inserter(environment));
  SandboxParts parts{.plan = plan_,
                     .views = *views,
                     .group = group_.get(),
                     .identity = identity_.get(),
                     .root = root->root ? root->root->get() : -1,
                     .mount_map = mount_map,
                     .network = network_.get(),
                     .status = status->theirs(),
                     .stdio = {spec.stdio[0], spec.stdio[1], spec.stdio[2]},
                     .terminal = request.terminal.has_value(),
                     .secrets = *secrets,
                     .filters = **filters,
                     .listener_flags = flags,
                     .paths = exec_paths(request.program, environment),
                     .argv = {request.argv0.empty() ? request.program : request.argv0},
                     .environment = environment};
  parts.argv.insert(parts.argv.end(), request.args.begin(), request.args.end());
  ScriptBuilder script;
  script.leave_out(backend_.weakened().left_out);
  write_script(script, parts);
  if (backend_.weakened().script) backend_.weakened().script(script);

  Expected expected = expectations(parts, caller);
  auto started = start_sandbox(
      backend_.spawner(), script, *status, [&](const Sandbox& sandbox) -> Result<void> {
        // While it was set up there was one process more.
        const auto processes = plan_.groups.processes;
        if (group_ && processes && *processes < kProcessesOfSetup) {
          if (auto set = group_->set({.processes = processes}); !set) return set;
        }
        mounts_ = open_mount_namespace(sandbox.program());
        if (plan_.explain) {
          if (auto begun = observe(status->take_listener(), sandbox, *views); !begun) return begun;
        }
        if (!backend_.weakened().verify) return {};
        const auto surroundings = backend_.spawner().surroundings();
        expected.status.seccomp_filters += surroundings.filters;
        expected.outside = surroundings.namespaces;
        std::string group;
        if (auto ok = verify_process(sandbox.program(), expected, group); !ok) return ok;
        if (group_ && !group_->contains(group)) {
          return base::fail(ErrorCode::system, "verify",
                            "the sandbox is not in its control group, so the program was not run");
        }
        return {};
      });
  if (!started) observer_.reset();
  if (!started) return std::unexpected(explain(started.error(), request, *views));
  sandbox_ = std::move(*started);
  program_ = sandbox_.program();
  if (plan_.sample_memory || plan_.sample_processes || plan_.sample_cpu) {
    sampler_ = std::make_unique<TreeSampler>(
        sandbox_.init(), program_, plan_.sample_memory ? plan_.limits.memory_bytes.value_or(0) : 0);
  }
  return {};
}

Result<void> LinuxChild::observe(base::Fd listener, const Sandbox& sandbox,
                                 const std::vector<OpenView>& views) {
  if (!listener) {
    return base::fail(ErrorCode::system, "explain",
                      "the sandbox has sent no listener, so the program was not run");
  }
  auto ordinary = backend_.filters({.unix_sockets = plan_.unix_sockets});
  if (!ordinary) return std::unexpected(std::move(ordinary.error()));
  Surroundings around{.network = plan_.network, .landlock_abi = plan_.landlock_abi};
  for (const OpenView& open : views) around.views.push_back(open.view);
  auto observer = Observer::start({.listener = std::move(listener),
                                   .program = sandbox.program(),
                                   .ordinary = **ordinary,
                                   .around = std::move(around)});
  if (!observer) return std::unexpected(std::move(observer.error()));
  observer_ = std::move(*observer);
  return {};
}

Error LinuxChild::explain(const StartFailure& failure, const Request& request,
                          const std::vector<OpenView>& views) const {
  if (failure.not_executed) {
    return explain_not_executed(request, plan_, failure.error.os_error);
  }
  if (failure.died && group_ && group_->usage().oom_kills > 0) {
    return {ErrorCode::limit_not_applied, "limit:memory", 0,
            "the memory limit of " + std::to_string(plan_.groups.memory_bytes.value_or(0)) +
                " bytes is too small to set a sandbox up in: raise it to some megabytes"};
  }
  if (failure.error.stage == kIdmapStep) {
    return cannot_map_ids(views, failure.argument, failure.error.os_error);
  }
  if (std::ranges::find(plan_.pins, failure.argument, &plan::View::target) != plan_.pins.end()) {
    return {ErrorCode::not_permitted, "pin", failure.error.os_error,
            failure.argument + " was replaced after it was checked, so it was not run (" +
                base::errno_text(failure.error.os_error) + "): run it again"};
  }
  return failure.error;
}

}  // namespace cordon::linux_backend
