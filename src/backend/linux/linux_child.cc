#include "backend/linux/linux_child.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/linux/exec_paths.h"
#include "backend/linux/inside_environment.h"
#include "backend/linux/letter.h"
#include "backend/linux/nest.h"
#include "backend/linux/program_limits.h"
#include "backend/linux/verify.h"
#include "backend/posix/lookup.h"
#include "backend/posix/rlimits.h"
#include "backend/posix/secret_files.h"

namespace cordon::linux_backend {

Result<void> LinuxChild::launch(const supervise::LaunchSpec& spec) {
  const Request& request = spec.request;
  end_at_process_limit_ = request.end_at_process_limit;
  auto secrets = open_secrets(request);
  if (!secrets) return std::unexpected(std::move(secrets.error()));

  if (nest_) return launch_inside(spec, *secrets);

  auto place = backend_.place_for(request.cgroup_parent);
  if (!place) return std::unexpected(std::move(place.error()));
  if (backend_.pool() != nullptr) {
    if (auto launched = launch_warm(**place, spec, *secrets)) return *std::move(launched);
    backend_.pool()->count_cold();
  }
  Remains remains = borrow(**place, request);
  CgroupLimits limits = limits_while_set_up(plan_.groups);
  limits.tell_of_refusals = end_at_process_limit_;
  auto made = Cell::make(backend_, **place, plan_, limits,
                         {.pinned = &request,
                          .terminal = request.terminal ? spec.stdio[0] : -1,
                          .secrets = has_secret_files(request) ? &*secrets : nullptr},
                         std::move(remains));
  if (!made) return std::unexpected(std::move(made.error()));
  cell_ = std::move(*made);
  auto executed = execute(spec, *secrets);
  if (!executed) give_back();
  return executed;
}

Result<void> LinuxChild::launch_inside(const supervise::LaunchSpec& spec,
                                       const SecretParts& secrets) {
  Request request = spec.request;
  nest_->furnish(request);
  const supervise::LaunchSpec furnished{.request = request,
                                        .limits = spec.limits,
                                        .stdio = {spec.stdio[0], spec.stdio[1], spec.stdio[2]}};
  for (bool may_be_ahead = !is_main_;; may_be_ahead = false) {
    auto made =
        nest_->hatch(plan_, group_limits(), request.terminal ? spec.stdio[0] : -1, may_be_ahead);
    if (!made) return std::unexpected(std::move(made.error()));
    cell_ = std::move(made->cell);
    auto executed = execute(furnished, secrets);
    if (made->ahead) launch_ = Launch::warm;
    if (executed) return executed;
    give_back();
    // What others inside can do to one that waits, they cannot do to one of its own.
    if (!made->ahead || not_executed_) return executed;
    launch_ = Launch::cold;
  }
}

Remains LinuxChild::borrow(Place& place, const Request& request) {
  if (!plan_.reuse || backend_.pool() == nullptr) return {};
  if (!unfit_for_pool(request, plan_).empty()) return {};
  auto [kind, remains] = backend_.pool()->lend(place, shared_plan_);
  lent_ = kind;
  if (!backend_.weakened().unclean) remains.clean();
  return std::move(remains);
}

std::optional<Result<void>> LinuxChild::launch_warm(Place& place, const supervise::LaunchSpec& spec,
                                                    const SecretParts& secrets) {
  launch_note_ = unfit_for_pool(spec.request, plan_);
  if (!launch_note_.empty()) return std::nullopt;
  cell_ = backend_.pool()->take(place, shared_plan_);
  if (!cell_) {
    launch_note_ = "none was ready";
    return std::nullopt;
  }
  if (plan_.reuse) lent_ = cell_->kind();
  Result<void> launched;
  if (group() != nullptr) launched = group()->set(group_limits());
  if (launched) launched = execute(spec, secrets);
  if (launched || not_executed_) {
    launch_ = cell_->reused() ? Launch::reused : Launch::warm;
    if (plan_.reuse && !cell_->reused()) launch_note_ = "nothing was there to be reused";
    if (!launched) give_back();
    return launched;
  }
  // It may have died, or be in a state that one of the run's own would not be in: that decides.
  launch_note_ = "the one that was ready failed: " + launched.error().message;
  give_back();
  return std::nullopt;
}

void LinuxChild::give_back() {
  const std::uint64_t kind = std::exchange(lent_, 0);
  if (kind != 0) backend_.pool()->leave(kind, ended_ ? std::move(cell_) : nullptr);
  backend_.put_away(std::move(cell_));
}

CgroupLimits LinuxChild::group_limits() const {
  return {.memory_bytes = plan_.groups.memory_bytes,
          .processes = plan_.groups.processes,
          .cpu_millicores = plan_.groups.cpu_millicores,
          .tell_of_refusals = end_at_process_limit_};
}

Result<void> LinuxChild::execute(const supervise::LaunchSpec& spec, const SecretParts& secrets) {
  const Request& request = spec.request;
  std::vector<std::string> environment =
      inside_environment(posix::environment_for(request), request, plan_);
  std::ranges::move(posix::secret_places(request, kFirstSecretFd), std::back_inserter(environment));
  Letter letter{.stdio = spec.stdio,
                .secrets = secrets,
                .pinned = !nest_ && std::ranges::find(plan_.pins, request.program,
                                                      &plan::View::target) != plan_.pins.end(),
                .paths = exec_paths(request.program, environment),
                .argv = {request.argv0.empty() ? request.program : request.argv0},
                .environment = std::move(environment)};
  if (plan_.cwd != cell_->cwd()) letter.cwd = plan_.cwd;
  letter.argv.insert(letter.argv.end(), request.args.begin(), request.args.end());
  // While it was set up there was one process more.
  const auto processes = plan_.groups.processes;
  if (group() != nullptr && processes && *processes < kProcessesOfSetup) {
    if (auto set = group()->set({.processes = processes}); !set) return set;
  }
  ProgramLimits limits = program_limits(plan_, letter.descriptors());
  letter.limits = std::move(limits.later);
  if (auto set = limit_program(limits.now); !set) return set;

  ScriptBuilder script(ScriptBuilder::Kind::letter);
  script.leave_out(backend_.weakened().left_out);
  write_letter(script, letter);
  if (backend_.weakened().script) backend_.weakened().script(script);
  if (auto executed = cell_->execute(script); !executed) {
    const StartFailure& failure = executed.error();
    if (failure.not_executed) {
      not_executed_ = true;
      return std::unexpected(explain_not_executed(request, plan_, failure.error.os_error));
    }
    if (failure.died && group() != nullptr && group()->usage().oom_kills > 0) {
      return std::unexpected(too_little_memory(plan_));
    }
    return std::unexpected(failure.error);
  }
  program_ = cell_->sandbox().program();
  if (request.timeout == kNoTimeout && !nest_ && !plan_.reuse) cell_->settle();
  if (plan_.sample_memory || plan_.sample_processes || plan_.sample_cpu) {
    sampler_ = std::make_unique<TreeSampler>(
        cell_->sandbox().init(), program_,
        plan_.sample_memory ? plan_.limits.memory_bytes.value_or(0) : 0);
  }
  return {};
}

Result<void> LinuxChild::limit_program(std::vector<posix::RlimitSetting> limits) const {
  const pid_t program = cell_->sandbox().program();
  const std::vector<posix::RlimitSetting> all = limits;
  const auto& left_out = backend_.weakened().left_out;
  std::erase_if(limits, [&](const posix::RlimitSetting& limit) {
    const std::string name = "limit:" + std::string(posix::limit_name(limit.resource));
    return std::ranges::find(left_out, name) != left_out.end();
  });
  if (auto set = set_limits(program, limits); !set) return set;
  if (!backend_.weakened().verify) return {};
  return verify_limits(program, all);
}

}  // namespace cordon::linux_backend
