#include "backend/linux/cell.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "backend/linux/linux_backend.h"
#include "backend/linux/mounts.h"
#include "backend/linux/sandbox_script.h"
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

Result<RootViews> open_root(LinuxBackend& backend, bool privileged, const plan::SandboxPlan& plan,
                            const CellExtras& extras) {
  // A terminal is shown among the devices, and a weakened set-up is to be seen whole.
  const bool shared = privileged && extras.terminal < 0 && backend.weakened().left_out.empty() &&
                      !backend.weakened().nothing_ahead;
  auto root = shared ? backend.roots().open(plan.root) : open_own(plan.root);
  if (!root) return root;
  if (extras.terminal >= 0) {
    auto shown = show_terminal(root->views, extras.terminal);
    if (!shown) return std::unexpected(std::move(shown.error()));
  }
  if (extras.pinned != nullptr) {
    auto added = add_pins(root->views, plan.pins, *extras.pinned);
    if (!added) return std::unexpected(std::move(added.error()));
  }
  return root;
}

}  // namespace

Result<std::unique_ptr<Cell>> Cell::make(LinuxBackend& backend, Place& place,
                                         const plan::SandboxPlan& plan, const CgroupLimits& limits,
                                         const CellExtras& extras, Remains remains) {
  auto status = StatusSocket::make();
  if (!status) return std::unexpected(std::move(status.error()));
  auto letterbox = Letterbox::make();
  if (!letterbox) return std::unexpected(std::move(letterbox.error()));
  std::unique_ptr<Cell> cell(new Cell(backend, std::move(*status), std::move(*letterbox)));
  auto made = cell->set_up(place, plan, limits, extras, std::move(remains));
  if (!made) {
    return std::unexpected(std::move(made.error()));
  }
  return cell;
}

// The kernel takes its time to free namespaces and groups; nobody has to wait for that.
Cell::~Cell() {
  sandbox_ = Sandbox{};
  backend_.identities().give_back(std::move(identity_));
  if (network_ || mounts_) {
    backend_.keeper().post([network = std::make_shared<base::Fd>(std::move(network_)),
                            mounts = std::make_shared<base::Fd>(std::move(mounts_))] {});
  }
  // While the kernel takes its time with these, somebody else can look after the group.
  if (group_) {
    backend_.keeper().post_anywhere(
        [group = std::make_shared<std::unique_ptr<Cgroup>>(std::move(group_)),
         leave_to = std::move(leave_group_)] {
          if (leave_to) leave_to(std::move(*group));
        });
  }
}

Remains Cell::leave() {
  sandbox_ = Sandbox{};
  return {.group = std::move(group_),
          .network = std::move(network_),
          .traces = std::exchange(traces_, std::nullopt),
          .mounts = std::move(mounts_)};
}

Result<void> Cell::take_parts(Place& place, const plan::SandboxPlan& plan,
                              const CgroupLimits& limits, Remains& remains) {
  reused_ = remains.any();
  if (remains.group) {
    group_ = std::move(remains.group);
    if (auto set = group_->set_all(limits); !set) return set;
  } else if (place.groups) {
    auto group = backend_.make_group(place, limits);
    if (!group) return std::unexpected(std::move(group.error()));
    group_ = std::move(*group);
    leave_group_to([&place](std::unique_ptr<Cgroup> left) { place.keep(std::move(left)); });
  }
  if (remains.network) {
    network_ = std::move(remains.network);
    traces_ = std::exchange(remains.traces, std::nullopt);
  } else if (backend_.makes_network_ahead(plan, place)) {
    // Worth waiting for: one that the sandbox makes itself ends with it.
    if (plan.reuse && backend_.pool() != nullptr) backend_.networks().expect();
    network_ = backend_.networks().take().value_or(base::Fd());
  }
  return {};
}

Result<void> Cell::set_up(Place& place, const plan::SandboxPlan& plan, const CgroupLimits& limits,
                          const CellExtras& extras, Remains remains) {
  const bool privileged = place.host.privileged;
  if (privileged) {
    auto identity = backend_.identities().take(plan.identity);
    if (!identity) return std::unexpected(std::move(identity.error()));
    identity_ = std::move(*identity);
  }
  auto root = open_root(backend_, privileged, plan, extras);
  if (!root) return std::unexpected(std::move(root.error()));
  auto filters = backend_.filters(
      {.unix_sockets = plan.unix_sockets, .explain = plan.explain, .nursery = extras.nursery});
  if (!filters) return std::unexpected(std::move(filters.error()));
  std::optional<unsigned> flags;
  if (plan.explain) {
    auto known = listener_flags();
    if (!known) return std::unexpected(std::move(known.error()));
    flags = *known;
  }
  if (auto taken = take_parts(place, plan, limits, remains); !taken) return taken;
  const User caller = caller_ids();
  int mount_map = -1;
  // A named user has files of its own; one made for the run has only what it is lent.
  if (identity_ && !plan.identity.host && has_grants(root->views)) {
    auto map = backend_.identities().mount_map(*identity_, caller);
    if (!map) return std::unexpected(std::move(map.error()));
    mount_map = *map;
  }

  const SandboxParts parts{.plan = plan,
                           .views = root->views,
                           .group = group_.get(),
                           .identity = identity_.get(),
                           .root = root->root ? root->root->get() : -1,
                           .mount_map = mount_map,
                           .network = network_.get(),
                           .status = status_.theirs(),
                           .letter = letterbox_.theirs(),
                           .terminal = extras.terminal,
                           .secrets = extras.secrets,
                           .filters = **filters,
                           .listener_flags = flags,
                           .nursery = extras.nursery};
  ScriptBuilder script;
  script.leave_out(backend_.weakened().left_out);
  write_script(script, parts);
  if (backend_.weakened().script) backend_.weakened().script(script);
  auto parked = park_sandbox(backend_.spawner(), script, status_, letterbox_);
  if (!parked) return std::unexpected(explain(parked.error(), plan, root->views));
  sandbox_ = std::move(*parked);

  mounts_ = open_mount_namespace(sandbox_.program());
  if (plan.reuse && backend_.pool() != nullptr && network_ && !traces_) {
    traces_ = NetworkTraces::take(sandbox_.program());
  }
  if (plan.explain) {
    if (auto begun = observe(plan, root->views); !begun) return begun;
  }
  if (backend_.weakened().verify) {
    if (auto ok = verify(expectations(parts, caller)); !ok) return ok;
  }
  if (extras.nursery) {
    sandbox_.set_nursery();
    status_inside_ = expectations(parts, caller).status;
    namespaces_inside_ = namespaces_of(sandbox_.program());
  }
  shown_ = std::move(root->views);
  for (OpenView& open : shown_) open.source.reset();
  cwd_ = plan.cwd;
  // From here on it ends with the supervisor: it knows that this was alive when it asked for that.
  if (!status_.release()) {
    return base::fail(ErrorCode::system, "set-up", "the sandbox's init is gone");
  }
  return {};
}

Result<void> Cell::verify(Expected expected) const {
  const auto surroundings = backend_.spawner().surroundings();
  expected.status.seccomp_filters += surroundings.filters;
  expected.outside = surroundings.namespaces;
  std::string group;
  if (auto ok = verify_process(sandbox_.program(), expected, group); !ok) return ok;
  if (group_ && !group_->contains(group)) {
    return base::fail(ErrorCode::system, "verify",
                      "the sandbox is not in its control group, so the program was not run");
  }
  return {};
}

Result<void> Cell::observe(const plan::SandboxPlan& plan, const std::vector<OpenView>& views) {
  base::Fd listener = status_.take_listener();
  if (!listener) {
    return base::fail(ErrorCode::system, "explain",
                      "the sandbox has sent no listener, so the program was not run");
  }
  auto ordinary = backend_.filters({.unix_sockets = plan.unix_sockets});
  if (!ordinary) return std::unexpected(std::move(ordinary.error()));
  Surroundings around{.network = plan.network, .landlock_abi = plan.landlock_abi};
  for (const OpenView& open : views) around.views.push_back(open.view);
  auto observer = Observer::start({.listener = std::move(listener),
                                   .program = sandbox_.program(),
                                   .ordinary = **ordinary,
                                   .around = std::move(around)});
  if (!observer) return std::unexpected(std::move(observer.error()));
  observer_ = std::move(*observer);
  return {};
}

bool Cell::fresh() const { return !sandbox_.program_ended() && seen_.still_true(); }

void Cell::prepare_to_wait(const plan::SandboxPlan& plan) {
  seen_ = SeenOnHost(plan.root, shown_);
  shown_.clear();
  // Without a control group: what was seen of others.
  constexpr std::uint64_t kUsual = 512 * 1024;
  memory_bytes_ = group_ ? group_->memory_bytes().value_or(kUsual) : kUsual;
  if (group_) group_->open_counters();
}

std::expected<void, StartFailure> Cell::execute(ScriptBuilder& letter) {
  auto executed = execute_in_sandbox(letter, status_, letterbox_);
  // A process that dies lets go of its descriptors as one that executes a program does.
  if (executed && !sandbox_.executed()) {
    return std::unexpected(
        StartFailure{.error = {ErrorCode::system, "set-up", 0,
                               "the program's process was killed before it could begin"},
                     .died = true});
  }
  return executed;
}

void Cell::settle() {
  status_.close();
  letterbox_.close();
  if (group_) group_->settle();
}

void Cell::end_leftovers() {
  if (inside_) {
    constexpr std::uint64_t kItself = 1;
    const auto counted = group_->processes();
    if (counted && *counted <= kItself) return;
    group_->kill();
    return wait_for_group(kItself);
  }
  constexpr std::uint64_t kOurs = 2;  // init, and the program, which counts until it is reaped
  const auto left = group_ ? group_->processes() : std::nullopt;
  if (left ? *left > kOurs : !sandbox_.init_is_alone()) sandbox_.end();
}

Error Cell::explain(const StartFailure& failure, const plan::SandboxPlan& plan,
                    const std::vector<OpenView>& views) const {
  if (failure.died && group_ && group_->usage().oom_kills > 0) return too_little_memory(plan);
  if (failure.error.stage == kIdmapStep) {
    return cannot_map_ids(views, failure.argument, failure.error.os_error);
  }
  if (std::ranges::find(plan.pins, failure.argument, &plan::View::target) != plan.pins.end()) {
    return {ErrorCode::not_permitted, "pin", failure.error.os_error,
            failure.argument + " was replaced after it was checked, so it was not run (" +
                base::errno_text(failure.error.os_error) + "): run it again"};
  }
  return failure.error;
}

CgroupLimits limits_while_set_up(const plan::GroupLimits& limits) {
  CgroupLimits wider{.memory_bytes = limits.memory_bytes,
                     .processes = limits.processes,
                     .cpu_millicores = limits.cpu_millicores};
  if (wider.processes) wider.processes = std::max(*wider.processes, kProcessesOfSetup);
  return wider;
}

Error too_little_memory(const plan::SandboxPlan& plan) {
  return {ErrorCode::limit_not_applied, "limit:memory", 0,
          "the memory limit of " + std::to_string(plan.groups.memory_bytes.value_or(0)) +
              " bytes is too small to set a sandbox up in: raise it to some megabytes"};
}

}  // namespace cordon::linux_backend
