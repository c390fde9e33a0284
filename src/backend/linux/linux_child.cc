#include "backend/linux/linux_child.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "backend/linux/exec_paths.h"
#include "backend/linux/inside_environment.h"
#include "backend/linux/mounts.h"
#include "backend/linux/sandbox_script.h"
#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::linux_backend {

namespace {

User caller_ids() { return {.uid = ::geteuid(), .gid = ::getegid()}; }

// What was seen of the whole tree; rusage knows only what the program has waited for.
void add_sampled(const TreeSampler& sampler, Usage& usage) {
  const TreeUsage& seen = sampler.last();
  if (seen.cpu() > *usage.cpu_user + *usage.cpu_system) {
    usage.cpu_user = seen.cpu_user;
    usage.cpu_system = seen.cpu_system;
  }
  usage.memory_peak_bytes = std::max(*usage.memory_peak_bytes, sampler.memory_peak());
  if (sampler.processes_peak() > 0) usage.processes_peak = sampler.processes_peak();
}

// Without what is ours: init, and before the program begins the process that sets everything up.
// So the kernel's count is exact from the third process on; up to there it does not say whether
// there was a second one.
std::uint64_t processes_of_program(std::uint64_t counted, bool had_children,
                                   std::optional<std::uint64_t> limit) {
  std::uint64_t processes = counted - 1;
  if (counted <= kProcessesOfSetup) processes = had_children ? 2 : 1;
  return std::min(processes, limit.value_or(processes));
}

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
  auto filters = backend_.filters({.unix_sockets = plan_.unix_sockets});
  if (!filters) return std::unexpected(std::move(filters.error()));
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

  const std::vector<std::string> environment =
      inside_environment(posix::environment_for(request), request, plan_);
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
                     .filters = **filters,
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
  if (!started) return std::unexpected(explain(started.error(), request, *views));
  sandbox_ = std::move(*started);
  program_ = sandbox_.program();
  if (plan_.sample_memory || plan_.sample_processes || plan_.sample_cpu) {
    sampler_ = std::make_unique<TreeSampler>(
        sandbox_.init(), program_, plan_.sample_memory ? plan_.limits.memory_bytes.value_or(0) : 0);
  }
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
  return failure.error;
}

void LinuxChild::note_memory() {
  const auto seen = group_ ? group_->memory_parts() : std::nullopt;
  const auto all = [](const MemoryParts& parts) {
    return parts.anonymous_bytes + parts.cache_bytes;
  };
  if (seen && (!memory_ || all(*seen) > all(*memory_))) memory_ = seen;
}

int LinuxChild::send(int signal, Reach reach) {
  if (signal == SIGKILL && reach == Reach::tree) {
    note_memory();
    sandbox_.kill();
    if (group_) group_->kill();  // also lets a throttled one die at once
    return 0;
  }
  const auto to_program = [&] { return ::kill(program_, signal) == 0 ? 0 : errno; };
  if (reach == Reach::program) return to_program();
  const int sent = ::kill(-program_, signal) == 0 ? 0 : errno;
  // A program can leave its own group; it does not get away from us by that.
  if (sent != 0 || ::getpgid(program_) != program_) return to_program();
  return 0;
}

std::optional<supervise::Ended> LinuxChild::reap() {
  note_memory();  // while what it has left behind is there
  const auto end = sandbox_.reap();
  if (!end) return std::nullopt;

  supervise::Ended ended;
  ended.exit_code = end->exit_code;
  ended.signal = end->signal;
  ended.status_lost = end->status_lost;
  ended.usage.cpu_user = end->cpu_user;
  ended.usage.cpu_system = end->cpu_system;
  ended.usage.memory_peak_bytes = end->memory_peak_bytes;
  if (sampler_) add_sampled(*sampler_, ended.usage);
  if (!group_) return ended;

  const CgroupUsage used = group_->usage();
  if (used.cpu_user) ended.usage.cpu_user = used.cpu_user;
  if (used.cpu_system) ended.usage.cpu_system = used.cpu_system;
  if (used.memory_peak_bytes) ended.usage.memory_peak_bytes = used.memory_peak_bytes;
  if (memory_) {
    ended.usage.memory_anonymous_bytes = memory_->anonymous_bytes;
    ended.usage.memory_cache_bytes = memory_->cache_bytes;
  }
  if (used.processes_peak) {
    ended.usage.processes_peak =
        processes_of_program(*used.processes_peak, end->had_children, plan_.limits.processes);
  }
  if (used.oom_kills > 0) {
    ended.ended_by = Verdict::memory;
    ended.evidence = std::string(group_->oom_counter()) + " " + std::to_string(used.oom_kills);
  }
  if (used.forks_refused > 0 && plan_.limits.processes) {
    ended.limits_hit.push_back(
        {.name = "processes",
         .limit = *plan_.limits.processes,
         .observed = ended.usage.processes_peak,
         .evidence = "pids.events max " + std::to_string(used.forks_refused)});
  }
  return ended;
}

std::optional<supervise::Sample> LinuxChild::sample() const {
  supervise::Sample sample;
  const auto cpu = group_ ? group_->cpu_time() : std::nullopt;
  if (cpu) {
    sample.cpu = *cpu;
    sample.evidence = "processor time of the control group";
  } else {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(program_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
      return std::nullopt;
    }
    sample.cpu = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  if (sampler_) {
    const TreeUsage& tree = sampler_->look();
    if (!cpu && tree.cpu() > sample.cpu) {
      sample.cpu = tree.cpu();
      sample.evidence = "sampled processor time of the tree";
    }
    sample.memory_bytes = tree.memory_bytes;
  }
  if (const auto memory = group_ ? group_->memory_bytes() : std::nullopt) {
    sample.memory_bytes = *memory;
    if (const auto parts = group_->memory_parts()) {
      sample.memory_anonymous_bytes = parts->anonymous_bytes;
    }
  }
  return sample;
}

int LinuxChild::alarm_fd() const { return group_ ? group_->event_fd() : -1; }

supervise::Alarm LinuxChild::alarm() {
  supervise::Alarm alarm;
  if (group_) alarm = group_alarm();
  if (sampler_ && !alarm.verdict) {
    supervise::Alarm sampled = sampled_alarm();
    if (sampled.verdict) alarm = std::move(sampled);
  }
  return alarm;
}

std::optional<Duration> LinuxChild::look_every() const {
  // Processes are made faster than memory is filled; processor time has a clock of its own.
  if (plan_.sample_processes) return sampler_->pause(std::chrono::milliseconds(10));
  if (plan_.sample_memory) return sampler_->pause();
  return std::nullopt;
}

supervise::Alarm LinuxChild::sampled_alarm() {
  const TreeUsage& tree = sampler_->look();
  const auto ends = [](Verdict verdict, std::string_view what, std::uint64_t seen) {
    return supervise::Alarm{
        .verdict = verdict,
        .evidence = "sampled " + std::string(what) + " of the tree: " + std::to_string(seen)};
  };
  if (plan_.sample_memory && tree.memory_bytes > *plan_.limits.memory_bytes) {
    return ends(Verdict::memory, "memory", tree.memory_bytes);
  }
  // There is nothing here that could refuse a fork, so the run cannot go on.
  if (plan_.sample_processes && tree.processes > *plan_.limits.processes) {
    return ends(Verdict::processes, "processes", tree.processes);
  }
  return {};
}

supervise::Alarm LinuxChild::group_alarm() {
  const bool happened = group_->acknowledge();
  if (happened) note_memory();  // the nearest to its peak that there is a sign of
  const CgroupUsage used = group_->usage();
  if (used.oom_kills > 0) {
    return {.verdict = Verdict::memory,
            .evidence = std::string(group_->oom_counter()) + " " + std::to_string(used.oom_kills)};
  }
  if (used.forks_refused > 0 && end_at_process_limit_) {
    return {.verdict = Verdict::processes,
            .evidence = "pids.events max " + std::to_string(used.forks_refused)};
  }
  // cgroup v1 tells of the shortage before it kills.
  return {.look_again = happened};
}

}  // namespace cordon::linux_backend
