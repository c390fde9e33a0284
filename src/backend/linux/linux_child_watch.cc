// The program once it runs: its signals, what it uses, its alarms and its end.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <utility>

#include "backend/linux/linux_child.h"
#include "backend/linux/nest.h"

namespace cordon::linux_backend {

namespace {

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

// Whether the process that sets everything up was counted with init and the program. Then the
// kernel's count is exact from the third process on; up to there it does not say whether the
// program had a second one.
bool setup_counted(const Cgroup* group) {
  return group != nullptr && group->processes_of_setup() > 2;
}

// Without what is ours.
std::uint64_t processes_of_program(std::uint64_t counted, const Cell& cell, bool had_children,
                                   std::optional<std::uint64_t> limit) {
  const Cgroup& group = *cell.group();
  std::uint64_t processes = cell.inside() ? counted : counted - 1;
  if (!cell.inside() && setup_counted(&group) && counted <= group.processes_of_setup()) {
    processes = had_children ? 2 : 1;
  }
  return std::min(processes, limit.value_or(processes));
}

}  // namespace

void LinuxChild::note_memory() {
  const auto seen = group() != nullptr ? group()->memory_parts() : std::nullopt;
  const auto all = [](const MemoryParts& parts) {
    return parts.anonymous_bytes + parts.cache_bytes;
  };
  if (seen && (!memory_ || all(*seen) > all(*memory_))) memory_ = seen;
}

int LinuxChild::send(int signal, Reach reach) {
  if (signal == SIGKILL && reach == Reach::tree) {
    note_memory();
    killed_ = true;
    cell_->sandbox().kill();
    if (group() != nullptr) group()->kill();  // also lets a throttled one die at once
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
  // While what it has left behind is there. A program that ended by itself has given nearly
  // everything back: what is left then is worth the time it takes only if it is much.
  constexpr std::uint64_t kMuch = std::uint64_t{1} << 20;
  if (group() != nullptr && group()->memory_bytes().value_or(kMuch) >= kMuch) note_memory();
  const bool had_children =
      !cell_->inside() && setup_counted(group()) && cell_->sandbox().had_children();
  const auto end = cell_->sandbox().program_end();
  if (!end) return std::nullopt;
  // Who has something killed wants to see it gone, init too.
  if (killed_) {
    cell_->end();
  } else {
    cell_->end_leftovers();
  }
  if (is_main_) nest_->end();

  ended_ = true;
  supervise::Ended ended;
  ended.exit_code = end->exit_code;
  ended.signal = end->signal;
  ended.status_lost = end->status_lost;
  ended.launch = launch_;
  ended.launch_note = launch_note_;
  ended.usage.cpu_user = end->cpu_user;
  ended.usage.cpu_system = end->cpu_system;
  ended.usage.memory_peak_bytes = end->memory_peak_bytes;
  if (Observer* observer = cell_->observer()) {
    const outcome::DenialLog& refused = observer->finish();
    ended.denials = refused.denials();
    ended.denials_omitted = refused.omitted();
  }
  if (sampler_) add_sampled(*sampler_, ended.usage);
  if (group() == nullptr) return ended;

  const CgroupUsage used = group()->usage();
  if (used.cpu_user) ended.usage.cpu_user = used.cpu_user;
  if (used.cpu_system) ended.usage.cpu_system = used.cpu_system;
  if (used.memory_peak_bytes) ended.usage.memory_peak_bytes = used.memory_peak_bytes;
  if (memory_) {
    ended.usage.memory_anonymous_bytes = memory_->anonymous_bytes;
    ended.usage.memory_cache_bytes = memory_->cache_bytes;
  }
  if (used.processes_peak) {
    ended.usage.processes_peak =
        processes_of_program(*used.processes_peak, *cell_, had_children, plan_.limits.processes);
  }
  if (used.oom_kills > 0) {
    ended.ended_by = Verdict::memory;
    ended.evidence = std::string(group()->oom_counter()) + " " + std::to_string(used.oom_kills);
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
  const auto cpu = group() != nullptr ? group()->cpu_time() : std::nullopt;
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
  if (const auto memory = group() != nullptr ? group()->memory_bytes() : std::nullopt) {
    sample.memory_bytes = *memory;
    if (const auto parts = group()->memory_parts()) {
      sample.memory_anonymous_bytes = parts->anonymous_bytes;
    }
  }
  return sample;
}

int LinuxChild::alarm_fd() const { return group() != nullptr ? group()->event_fd() : -1; }

supervise::Alarm LinuxChild::alarm() {
  supervise::Alarm alarm;
  if (group() != nullptr) alarm = group_alarm();
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
  const bool happened = group()->acknowledge();
  if (happened) note_memory();  // the nearest to its peak that there is a sign of
  const CgroupUsage used = group()->usage();
  if (used.oom_kills > 0) {
    return {.verdict = Verdict::memory,
            .evidence = std::string(group()->oom_counter()) + " " + std::to_string(used.oom_kills)};
  }
  if (used.forks_refused > 0 && end_at_process_limit_) {
    return {.verdict = Verdict::processes,
            .evidence = "pids.events max " + std::to_string(used.forks_refused)};
  }
  // cgroup v1 tells of the shortage before it kills.
  return {.look_again = happened};
}

}  // namespace cordon::linux_backend
