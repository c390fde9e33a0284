// Roots made ahead: what all runs of one kind see alike (the system's directories, devices, files
// made for the sandbox) is mounted once, detached, and each run gets a copy of the tree.
//
// For privileged callers, on kernels that can put mounts together before they are attached (Linux
// 6.15). Elsewhere, and for a first run, the set-up process builds everything itself.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "backend/linux/mount_watch.h"
#include "backend/linux/seen_on_host.h"
#include "backend/linux/spawner_link.h"
#include "backend/linux/views.h"
#include "base/fd.h"
#include "cordon/error.h"
#include "plan/sandbox_plan.h"

namespace cordon::linux_backend {

struct RootViews {
  std::vector<OpenView> views;
  std::shared_ptr<const base::Fd> root;  // holds the `prepared` ones; null: none are
};

// Thread-safe.
class RootTemplates {
 public:
  explicit RootTemplates(SpawnerLink& spawner) : spawner_(spawner) {}

  // The views, opened; with a shared root when the same were asked for before. A root is made anew
  // when something that it shows has been replaced on the host.
  [[nodiscard]] Result<RootViews> open(const std::vector<plan::View>& views);

 private:
  struct Template {
    std::vector<plan::View> asked;
    std::vector<OpenView> views;           // without descriptors
    SeenOnHost seen;                       // what the root shows, and what the host did not have
    std::shared_ptr<const base::Fd> root;  // null: asked for once, or no longer true
  };
  void forget_if_mounts_changed();
  [[nodiscard]] static Result<RootViews> instance(const Template& made);
  [[nodiscard]] std::shared_ptr<const base::Fd> build(const std::vector<OpenView>& views);

  SpawnerLink& spawner_;
  std::mutex mutex_;
  std::vector<Template> templates_;
  MountWatch mounts_;
  bool supported_ = true;
};

}  // namespace cordon::linux_backend
