#include "backend/linux/cgroup_v2.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "backend/linux/cgroup_v2_group.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using plan::Feature;

class CgroupV2Parent final : public CgroupParent {
 public:
  explicit CgroupV2Parent(V2Place place) { home_->place = std::move(place); }

  // Whether a group can really be made, and what is in it.
  [[nodiscard]] Result<void> probe() {
    auto group = make_unwatched();
    if (!group) return std::unexpected(std::move(group.error()));
    home_->swap_max = (*group)->has("memory.swap.max");
    if (Feature& cpu = home_->place.features[2]; cpu.works && !(*group)->has("cpu.max")) {
      cpu = {false, "the kernel offers no cpu.max",
             "use a kernel with bandwidth control (CONFIG_CFS_BANDWIDTH)"};
    }
    first_ = std::move(*group);
    return {};
  }

  [[nodiscard]] plan::CgroupVersion version() const override { return plan::CgroupVersion::v2; }
  [[nodiscard]] std::string path() const override { return home_->place.parent.path; }
  [[nodiscard]] Feature memory() const override { return home_->place.features[0]; }
  [[nodiscard]] Feature pids() const override { return home_->place.features[1]; }
  [[nodiscard]] Feature cpu() const override { return home_->place.features[2]; }
  [[nodiscard]] bool swap_limited() const override { return home_->swap_max || !swap_in_use(); }

  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make(bool /*cpu*/) override {
    auto group = first_ ? std::move(first_) : make_unwatched();
    if (!group) return std::unexpected(std::move(group.error()));
    (*group)->watch();
    return std::move(*group);
  }

  std::size_t sweep() override {
    const std::vector<int> dirs{home_->place.parent.fd.get()};
    home_->leftovers.remove(dirs);
    const auto& self = names_.self();
    return self ? sweep_groups(dirs, *self) : 0;
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<CgroupV2>> make_unwatched() {
    auto group = CgroupV2::make(home_, names_.next());
    // Taken by a second parent in this process.
    while (!group && group.error().os_error == EEXIST) {
      group = CgroupV2::make(home_, names_.next());
    }
    return group;
  }

  std::shared_ptr<V2Home> home_ = std::make_shared<V2Home>();
  CgroupNames names_;
  std::unique_ptr<CgroupV2> first_;  // made to see whether it works; the first run gets it
};

}  // namespace

Result<std::unique_ptr<CgroupParent>> open_cgroup_v2(const CgroupMount& mount, std::string_view own,
                                                     const std::string& name) {
  auto place = find_v2_place(mount, own, name);
  if (!place) return std::unexpected(std::move(place.error()));
  auto parent = std::make_unique<CgroupV2Parent>(std::move(*place));
  if (auto probed = parent->probe(); !probed) {
    return base::fail(ErrorCode::unsupported, "cgroup", probed.error().message);
  }
  return parent;
}

}  // namespace cordon::linux_backend
