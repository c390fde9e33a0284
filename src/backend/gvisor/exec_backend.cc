#include "backend/gvisor/exec_backend.h"

#include <algorithm>
#include <utility>

#include "backend/gvisor/exec_child.h"
#include "backend/gvisor/gvisor_plan.h"
#include "base/errors.h"

namespace cordon::gvisor_backend {
namespace {

std::unexpected<Error> more(const std::string& field, const std::string& why) {
  return base::fail(ErrorCode::not_permitted, "inside",
                    field + ": a program inside a sandbox gets no more than the sandbox has (" +
                        why + "): leave it out, or create the sandbox with it");
}

template <typename T>
Result<void> check_limit(const char* name, const std::optional<T>& asked,
                         const std::optional<T>& had, bool each) {
  if (!asked || asked == had) return {};
  if (had && *asked > *had) return more(name, "its limit is lower");
  if (each) return {};
  return base::fail(ErrorCode::unsupported, "inside",
                    std::string(name) +
                        ": gVisor cannot limit it for one program of a sandbox apart; the limit "
                        "of the sandbox holds for all of them: leave it out");
}

Result<void> check_limits(const Limits& asked, const Limits& had) {
  Result<void> all[] = {
      check_limit("limits.memory_bytes", asked.memory_bytes, had.memory_bytes, false),
      check_limit("limits.processes", asked.processes, had.processes, false),
      check_limit("limits.cpu_millicores", asked.cpu_millicores, had.cpu_millicores, false),
      check_limit("limits.cpu_time", asked.cpu_time, had.cpu_time, false),
      check_limit("limits.open_files", asked.open_files, had.open_files, true),
      check_limit("limits.file_size_bytes", asked.file_size_bytes, had.file_size_bytes, true)};
  for (auto& ok : all) {
    if (!ok) return std::move(ok);
  }
  return {};
}

}  // namespace

Result<void> check_inside(const Request& request, const Limits& limits, const Inside& inside) {
  if (auto ok = check_request(request); !ok) return ok;
  const bool writes = std::ranges::any_of(inside.plan.root, [](const plan::View& view) {
    return view.granted && view.writable && view.kind == plan::View::Kind::bind;
  });
  if (writes) {
    return base::fail(ErrorCode::unsupported, "inside",
                      "runsc filters the system calls of a sandbox's main program only, so "
                      "another one could leave a setuid file in a write grant: create the sandbox "
                      "without write grants, and copy files in and out");
  }
  if (!request.root.empty() && request.root != inside.request.root) {
    return more("root", "its root is fixed");
  }
  if (!request.grants.empty() && request.grants != inside.request.grants) {
    return more("grants", "its own grants are fixed");
  }
  if (request.network != Network::none && request.network != inside.request.network) {
    return more("network", "its network is fixed");
  }
  if (request.user && request.user != inside.request.user) return more("user", "its user is fixed");
  if (!request.cgroup_parent.empty() && request.cgroup_parent != inside.request.cgroup_parent) {
    return more("cgroup_parent", "its control group is fixed");
  }
  return check_limits(limits, inside.plan.limits);
}

Capabilities ExecBackend::capabilities() const {
  return {.backend = std::string(name()),
          .enforcement = inside_->plan.enforcement,
          .gaps = {
              "Limits of memory, processes and processor time hold for the sandbox as a whole.",
              "What a program leaves running goes on until the sandbox ends.",
              "A program that exits with 128 + n is told as one that died of signal n.",
              "What a program uses is known for the sandbox only.",
          }};
}

Result<Plan> ExecBackend::plan(const Request& request, const Limits& limits) const {
  if (auto ok = check_inside(request, limits, *inside_); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  return Plan{.backend = std::string(name()),
              .steps = {{"execute", request.program + " in " + inside_->sandbox->id()}},
              .enforcement = inside_->plan.enforcement};
}

Result<std::unique_ptr<supervise::Child>> ExecBackend::prepare(const Request& request,
                                                               const Limits& limits) {
  if (auto ok = check_inside(request, limits, *inside_); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  return std::make_unique<ExecChild>(inside_);
}

}  // namespace cordon::gvisor_backend
