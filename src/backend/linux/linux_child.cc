#include "backend/linux/linux_child.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "backend/linux/exec_paths.h"
#include "backend/linux/sandbox_script.h"
#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::linux_backend {

namespace {

User caller_ids() { return {.uid = ::geteuid(), .gid = ::getegid()}; }

bool has_grants(const std::vector<OpenView>& views) {
  for (const OpenView& open : views) {
    if (open.view.granted && open.source) return true;
  }
  return false;
}

}  // namespace

// The kernel takes its time to free namespaces and groups; nobody has to wait for that.
LinuxChild::~LinuxChild() {
  sandbox_ = Sandbox{};
  backend_.identities().give_back(std::move(identity_));
  if (group_) {
    backend_.keeper().post([group = std::shared_ptr<Cgroup>(std::move(group_))] {});
  }
}

Result<void> LinuxChild::launch(const supervise::LaunchSpec& spec) {
  const Request& request = spec.request;
  auto plan = backend_.sandbox_plan(request, spec.limits);
  if (!plan) return std::unexpected(std::move(plan.error()));
  plan_ = std::move(*plan);
  end_at_process_limit_ = request.end_at_process_limit;
  auto place = backend_.place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));

  if ((*place)->host.privileged) {
    auto identity = backend_.identities().take(plan_.identity);
    if (!identity) return std::unexpected(std::move(identity.error()));
    identity_ = std::move(*identity);
  }
  auto views = open_views(plan_.root);
  if (!views) return std::unexpected(std::move(views.error()));
  auto filters = backend_.filters({.unix_sockets = plan_.unix_sockets});
  if (!filters) return std::unexpected(std::move(filters.error()));
  auto status = StatusSocket::make();
  if (!status) return std::unexpected(std::move(status.error()));

  if ((*place)->groups) {
    auto group = backend_.make_group(request.cgroup_parent, plan_.groups, end_at_process_limit_);
    if (!group) return std::unexpected(std::move(group.error()));
    group_ = std::move(*group);
  }
  const User caller = caller_ids();
  int mount_map = -1;
  if (identity_ && has_grants(*views)) {
    auto map = backend_.identities().mount_map(*identity_, caller);
    if (!map) return std::unexpected(std::move(map.error()));
    mount_map = *map;
  }

  const std::vector<std::string> environment = posix::environment_for(request);
  SandboxParts parts{.plan = plan_,
                     .views = *views,
                     .group = group_.get(),
                     .identity = identity_.get(),
                     .mount_map = mount_map,
                     .status = status->theirs(),
                     .stdio = {spec.stdio[0], spec.stdio[1], spec.stdio[2]},
                     .terminal = request.terminal.has_value(),
                     .filters = **filters,
                     .paths = exec_paths(request.program, environment),
                     .argv = {request.program},
                     .environment = environment};
  parts.argv.insert(parts.argv.end(), request.args.begin(), request.args.end());
  ScriptBuilder script;
  script.leave_out(backend_.weakened().left_out);
  write_script(script, parts);

  const Expected expected = expectations(parts, caller);
  auto started = start_sandbox(
      backend_.spawner(), script, *status, [&](const Sandbox& sandbox) -> Result<void> {
        if (!backend_.weakened().verify) return {};
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
  return {};
}

Error LinuxChild::explain(const StartFailure& failure, const Request& request,
                          const std::vector<OpenView>& views) const {
  if (failure.not_executed) {
    return explain_not_executed(request, plan_.cwd, views, failure.error.os_error);
  }
  if (failure.died && group_ && group_->usage().oom_kills > 0) {
    return {ErrorCode::limit_not_applied, "limit:memory", 0,
            "the memory limit of " + std::to_string(plan_.groups.memory_bytes.value_or(0)) +
                " bytes is too small to set a sandbox up in: raise it to some megabytes"};
  }
  return failure.error;
}

int LinuxChild::send(int signal, Reach reach) {
  if (signal == SIGKILL && reach == Reach::tree) {
    sandbox_.kill();
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
  const auto end = sandbox_.reap();
  if (!end) return std::nullopt;

  supervise::Ended ended;
  ended.exit_code = end->exit_code;
  ended.signal = end->signal;
  ended.status_lost = end->status_lost;
  ended.usage.cpu_user = end->cpu_user;
  ended.usage.cpu_system = end->cpu_system;
  ended.usage.memory_peak_bytes = end->memory_peak_bytes;
  if (!group_) return ended;

  const CgroupUsage used = group_->usage();
  if (used.cpu_user) ended.usage.cpu_user = used.cpu_user;
  if (used.cpu_system) ended.usage.cpu_system = used.cpu_system;
  if (used.memory_peak_bytes) ended.usage.memory_peak_bytes = used.memory_peak_bytes;
  // Without init: the limit is the program's, and so is the count.
  if (used.processes_peak) ended.usage.processes_peak = *used.processes_peak - 1;
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
  } else {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(program_, &clock) != 0 || ::clock_gettime(clock, &used) != 0) {
      return std::nullopt;
    }
    sample.cpu = std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  if (const auto memory = group_ ? group_->memory_bytes() : std::nullopt) {
    sample.memory_bytes = *memory;
  }
  return sample;
}

int LinuxChild::alarm_fd() const { return group_ ? group_->event_fd() : -1; }

supervise::Alarm LinuxChild::alarm() {
  const bool happened = group_->acknowledge();
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
