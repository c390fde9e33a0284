// The part of Cell for programs of a long-lived sandbox, made by its nursery.
#include <chrono>
#include <thread>
#include <utility>

#include "backend/linux/cell.h"
#include "backend/linux/linux_backend.h"
#include "backend/linux/program.h"
#include "base/errors.h"

namespace cordon::linux_backend {

Result<std::unique_ptr<Cell>> Cell::make_inside(LinuxBackend& backend, Cell& nest,
                                                const plan::SandboxPlan& plan,
                                                std::unique_ptr<Cgroup> group, int terminal) {
  auto status = StatusSocket::make();
  if (!status) return std::unexpected(std::move(status.error()));
  auto letterbox = Letterbox::make();
  if (!letterbox) return std::unexpected(std::move(letterbox.error()));
  std::unique_ptr<Cell> cell(new Cell(backend, std::move(*status), std::move(*letterbox)));
  cell->inside_ = true;
  cell->group_ = std::move(group);
  auto made = cell->set_up_inside(nest, plan, terminal);
  if (!made) return std::unexpected(std::move(made.error()));
  return cell;
}

Result<void> Cell::set_up_inside(Cell& nest, const plan::SandboxPlan& plan, int terminal) {
  auto filters = backend_.filters({.unix_sockets = plan.unix_sockets});
  if (!filters) return std::unexpected(std::move(filters.error()));

  ScriptBuilder script;
  script.leave_out(backend_.weakened().left_out_inside);
  (void)script.send_fd(status_.theirs());     // must be the first …
  (void)script.send_fd(letterbox_.theirs());  // … and this the second
  HatchedSteps steps{.filters = **filters};
  for (const auto& fds : {group_->join_fds(), group_->join_each_fds()}) {
    for (const int fd : fds) steps.groups.push_back(script.send_fd(fd));
  }
  if (terminal >= 0) steps.terminal = script.send_fd(terminal);
  add_hatched(script, steps);
  if (backend_.weakened().script) backend_.weakened().script(script);

  auto parked = park_hatched(nest.sandbox_, nest.letterbox_, script, status_, letterbox_);
  if (!parked) {
    if (parked.error().died && group_->usage().oom_kills > 0) {
      return std::unexpected(too_little_memory(plan));
    }
    return std::unexpected(std::move(parked.error().error));
  }
  sandbox_ = std::move(*parked);
  cwd_ = nest.cwd_;
  if (!backend_.weakened().verify) return {};

  ExpectedStatus expected = nest.status_inside_;
  expected.seccomp_filters +=
      static_cast<int>((*filters)->size()) + backend_.spawner().surroundings().filters;
  std::string where;
  auto ok = verify_hatched(sandbox_.program(), expected, nest.namespaces_inside_, where);
  if (ok && !group_->contains(where)) {
    return base::fail(ErrorCode::system, "verify",
                      "the program is not in its control group, so it was not run");
  }
  return ok;
}

void Cell::end() {
  sandbox_.end();
  if (!inside_) return;
  group_->kill();
  wait_for_group(0);
}

void Cell::wait_for_group(std::uint64_t ours) const {
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const auto left = group_->processes();
    if (!left || *left <= ours) return;
    std::this_thread::sleep_for(std::chrono::microseconds(round < 10 ? 100 : 1000));
  }
}

}  // namespace cordon::linux_backend
