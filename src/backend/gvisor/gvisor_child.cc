#include "backend/gvisor/gvisor_child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "backend/gvisor/gvisor_plan.h"
#include "backend/linux/exec_paths.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kBegins = 60s;
constexpr Duration kSignals = 10s;
constexpr int kSignalled = 128;
constexpr int kMostSignals = 64;

}  // namespace

void set_status(supervise::Ended& ended, int code) {
  if (code > kSignalled && code <= kSignalled + kMostSignals) {
    ended.signal = code - kSignalled;
  } else {
    ended.exit_code = code;
  }
}

GvisorChild::~GvisorChild() {
  if (!sandbox_) return;
  sandbox_->kill();  // others may hold it
  // Of a directory that somebody else made, nothing is left when this is gone.
  if (backend_.role().directory.empty()) threads_->leave(std::move(sandbox_));
}

Result<void> GvisorChild::launch(const supervise::LaunchSpec& spec) {
  const Request& request = spec.request;
  // runsc would tell, too, but much later.
  if (auto found = linux_backend::find_inside(request, plan_); !found) {
    return std::unexpected(std::move(found.error()));
  }
  auto threads = backend_.threads();
  if (!threads) return std::unexpected(std::move(threads.error()));
  threads_ = *threads;
  const Role& role = backend_.role();
  auto directory =
      role.directory.empty() ? RunDirectory::make() : RunDirectory::use(role.directory);
  if (!directory) return std::unexpected(std::move(directory.error()));
  auto bundle = make_bundle(plan_, request, backend_.runsc());
  if (!bundle) return std::unexpected(std::move(bundle.error()));
  if (auto written = write_bundle(directory->bundle(), *bundle); !written) return written;
  auto mounts = pinned_mounts(directory->bundle(), *bundle);
  if (!mounts) return std::unexpected(std::move(mounts.error()));
  auto group = backend_.make_group(request.cgroup_parent, plan_.groups);
  if (!group) return std::unexpected(std::move(group.error()));

  Sandbox::Ask ask{.runsc = backend_.runsc(),
                   .directory = std::move(*directory),
                   .id = {},
                   .group = std::move(*group),
                   .image = role.image,
                   .mounts = *std::move(mounts),
                   .stdio = {spec.stdio[0], spec.stdio[1], spec.stdio[2]},
                   .patience = kBegins};
  ask.id = role.id.empty() ? "cordon-" + ask.directory.name() : role.id;
  for (int i = 0; i < 2; ++i) {
    auto end = relays_[i].open(spec.stdio[i + 1]);
    if (!end) return std::unexpected(std::move(end.error()));
    ask.stdio[i + 1] = *end;
  }
  auto started = Sandbox::start(*threads_, std::move(ask));
  for (FileRelay& relay : relays_) relay.begin();
  if (!started) {
    return std::unexpected(explain(std::move(started.error()), request));
  }
  sandbox_ = std::move(*started);
  if (const auto* counted = sandbox_->group()) {
    cpu_before_ = counted->cpu_time().value_or(Duration{0});
  }
  sample_tree();
  if (role.launched) role.launched(sandbox_);
  return {};
}

// runsc tells in words what the kernel would tell by an errno.
Error GvisorChild::explain(Error error, const Request& request) const {
  if (error.stage != "runsc" || error.code != ErrorCode::system) return error;
  const bool loading = error.message.find("failed to load") != std::string::npos;
  constexpr std::pair<std::string_view, int> kKnown[] = {{"no such file or directory", ENOENT},
                                                         {"permission denied", EACCES},
                                                         {"exec format error", ENOEXEC},
                                                         {"argument list too long", E2BIG}};
  for (const auto& [text, number] : kKnown) {
    if (!loading || !error.message.ends_with(text)) continue;
    return linux_backend::explain_not_executed(request, plan_, number);
  }
  error.message = "runsc could not start the program: " + error.message;
  return error;
}

int GvisorChild::send(int signal, Reach reach) {
  if (signal == SIGKILL && reach == Reach::tree) {
    sandbox_->kill();
    return 0;
  }
  std::vector<std::string> words{"kill"};
  if (reach == Reach::tree) words.emplace_back("-all");
  const auto sent = sandbox_->command(std::move(words), kSignals, {std::to_string(signal)});
  if (!sent) return sent.error().os_error != 0 ? sent.error().os_error : EAGAIN;
  return sent->exit_code == 0 ? 0 : ESRCH;
}

std::optional<supervise::Ended> GvisorChild::reap() {
  const auto end = sandbox_->ended();
  if (!end) return std::nullopt;
  for (FileRelay& relay : relays_) relay.finish();
  supervise::Ended ended;
  if (end->checkpointed) {
    ended.status_lost = true;  // it has not ended: it goes on where it is restored
    ended.evidence = "checkpointed";
  } else if (end->error.empty()) {
    set_status(ended, end->code);
  } else {
    ended.status_lost = true;  // gVisor itself was ended, and the program with it
    ended.evidence = end->error;
  }
  if (group() != nullptr) {
    add_usage(ended);
  } else {
    // A killed runsc has not waited for anybody.
    const bool seen = sampler_ && sampler_->last().cpu() > end->cpu_user + end->cpu_system;
    ended.usage.cpu_user = seen ? sampler_->last().cpu_user : end->cpu_user;
    ended.usage.cpu_system = seen ? sampler_->last().cpu_system : end->cpu_system;
  }
  return ended;
}

void GvisorChild::add_usage(supervise::Ended& ended) {
  const linux_backend::CgroupUsage used = group()->usage();
  ended.usage.cpu_user = used.cpu_user;
  ended.usage.cpu_system = used.cpu_system;
  ended.usage.memory_peak_bytes = used.memory_peak_bytes;
  if (used.forks_refused > 0 && plan_.limits.processes) {
    const std::string evidence = "pids.events max " + std::to_string(used.forks_refused);
    ended.limits_hit.push_back({.name = "processes",
                                .limit = *plan_.limits.processes,
                                .observed = std::nullopt,
                                .evidence = evidence});
    // gVisor does not live on without a thread that it needs.
    if (ended.status_lost) {
      ended.ended_by = Verdict::processes;
      ended.evidence = evidence;
    }
  }
  if (used.oom_kills > 0) {
    ended.ended_by = Verdict::memory;
    ended.evidence = std::string(group()->oom_counter()) + " " + std::to_string(used.oom_kills);
  }
}

void GvisorChild::sample_tree() {
  const bool needed = group() == nullptr || plan_.sample_processes || plan_.sample_cpu;
  if (!needed || sandbox_->kernel_pid() <= 0) return;
  sampler_ = std::make_unique<linux_backend::TreeSampler>(sandbox_->pid(), sandbox_->kernel_pid(),
                                                          std::uint64_t{0});
  cpu_before_ = sampler_->look().cpu();
}

std::optional<supervise::Sample> GvisorChild::sample() const {
  supervise::Sample sample;
  if (sampler_) {
    const linux_backend::TreeUsage& tree = sampler_->look();
    sample.cpu = tree.cpu() - cpu_before_;
    sample.evidence = "sampled processor time of runsc's processes since the program began";
    sample.memory_bytes = tree.memory_bytes;
    return sample;
  }
  const auto cpu = group() != nullptr ? group()->cpu_time() : std::nullopt;
  if (!cpu) return std::nullopt;
  sample.cpu = *cpu - cpu_before_;
  sample.evidence = "processor time of the control group since the program began";
  sample.memory_bytes = group()->memory_bytes().value_or(0);
  return sample;
}

std::optional<Duration> GvisorChild::look_every() const {
  if (!sampler_ || !plan_.sample_processes) return std::nullopt;
  return sampler_->pause();
}

supervise::Alarm GvisorChild::sampled_alarm() {
  const linux_backend::TreeUsage& tree = sampler_->look();
  if (plan_.sample_processes && tree.processes > threads_for(*plan_.limits.processes)) {
    return {.verdict = Verdict::processes,
            .evidence = "sampled threads of runsc's processes: " + std::to_string(tree.processes)};
  }
  return {};
}

int GvisorChild::alarm_fd() const { return group() != nullptr ? group()->event_fd() : -1; }

supervise::Alarm GvisorChild::alarm() {
  if (sampler_) {
    supervise::Alarm sampled = sampled_alarm();
    if (sampled.verdict || group() == nullptr) return sampled;
  }
  if (group() == nullptr) return {};
  const bool happened = group()->acknowledge();
  const linux_backend::CgroupUsage used = group()->usage();
  if (used.oom_kills > 0) {
    return {.verdict = Verdict::memory,
            .evidence = std::string(group()->oom_counter()) + " " + std::to_string(used.oom_kills)};
  }
  if (used.forks_refused > 0) {
    return {.verdict = Verdict::processes,
            .evidence = "pids.events max " + std::to_string(used.forks_refused)};
  }
  return {.look_again = happened};
}

}  // namespace cordon::gvisor_backend
