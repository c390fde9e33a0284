#include "backend/linux/root_template.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "backend/linux/mounts.h"
#include "backend/linux/script_builder.h"
#include "backend/linux/status_socket.h"

namespace cordon::linux_backend {
namespace {

using plan::View;
using spawner::Op;
using spawner::ReportKind;

constexpr int kRootFd = 120;  // where the building process keeps the root
constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::size_t kMostTemplates = 16;

}  // namespace

// What is mounted over something does not show in its directory.
void RootTemplates::forget_if_mounts_changed() {
  if (!mounts_.changed()) return;
  for (Template& made : templates_) made.root.reset();
}

Result<RootViews> RootTemplates::instance(const Template& made) {
  RootViews all;
  all.root = made.root;
  all.views.reserve(made.views.size());
  for (const OpenView& open : made.views) {
    if (open.prepared) {
      all.views.push_back(without_source(open));
      all.views.back().prepared = true;
      continue;
    }
    auto opened = open_views({open.view});
    if (!opened) return std::unexpected(std::move(opened.error()));
    std::ranges::move(*opened, std::back_inserter(all.views));
  }
  return all;
}

// A process on the host, with the caller's rights, that puts the mounts together, shows them to us,
// and ends. Null: this kernel cannot do it.
std::shared_ptr<const base::Fd> RootTemplates::build(const std::vector<OpenView>& views) {
  auto status = StatusSocket::make();
  if (!status) return nullptr;
  ScriptBuilder script;
  (void)script.send_fd(status->theirs());
  script.clone_flags(CLONE_PARENT);
  script.call(__NR_umask, {0});
  MountSteps mounts(script, views);
  mounts.take_from_host(-1, -1);
  const Register root = mounts.assemble_shared();
  script.call(__NR_dup3, {root, kRootFd, O_CLOEXEC});
  script.op(Op::park);
  script.op(Op::exit);
  if (!spawner_.send(script)) return nullptr;
  status->close_theirs();

  std::shared_ptr<const base::Fd> made;
  pid_t builder = -1;
  const TimePoint until = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const auto heard = status->next(until);
    if (!heard || !*heard) break;
    if ((*heard)->report.kind == ReportKind::started) {
      builder = static_cast<pid_t>((*heard)->report.value);
    }
    if ((*heard)->report.kind == ReportKind::parked) {
      const base::Fd process(static_cast<int>(::syscall(SYS_pidfd_open, (*heard)->sender, 0)));
      base::Fd taken(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), kRootFd, 0)));
      if (taken) made = std::make_shared<const base::Fd>(base::move_up(std::move(taken)));
      status->abandon();
    }
  }
  int ended = 0;
  while (builder > 0 && ::waitpid(builder, &ended, 0) < 0 && errno == EINTR) {
  }
  return made;
}

Result<RootViews> RootTemplates::open(const std::vector<View>& views) {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(templates_, views, &Template::asked);
  forget_if_mounts_changed();
  if (known != templates_.end() && known->root && known->seen.still_true()) {
    return instance(*known);
  }

  auto opened = open_views(views);
  if (!opened) return std::unexpected(std::move(opened.error()));
  if (!supported_ || known == templates_.end()) {
    if (templates_.size() >= kMostTemplates) templates_.erase(templates_.begin());
    if (supported_) templates_.push_back({.asked = views, .views = {}, .seen = {}, .root = {}});
    return RootViews{.views = std::move(*opened), .root = nullptr};
  }

  Template made{.asked = views, .views = {}, .seen = {}, .root = build(*opened)};
  if (!made.root) {
    supported_ = false;
    return RootViews{.views = std::move(*opened), .root = nullptr};
  }
  const std::vector<bool> shared = shared_views(*opened);
  for (std::size_t i = 0; i < opened->size(); ++i) {
    made.views.push_back(without_source((*opened)[i]));
    made.views.back().prepared = shared[i];
  }
  std::vector<View> asked = left_out(views, *opened);
  std::vector<OpenView> shown;
  for (const OpenView& open : made.views) {
    if (!open.prepared) continue;
    asked.push_back(open.view);
    shown.push_back(without_source(open));
  }
  made.seen = SeenOnHost(asked, shown);
  *known = std::move(made);
  return instance(*known);
}

}  // namespace cordon::linux_backend
