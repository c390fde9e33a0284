#include "backend/linux/cgroup_v1.h"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <utility>

#include "backend/linux/cgroup_v1_group.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

using plan::Feature;

struct ControllerFile {
  v1::Controller bit;
  const char* name;
  const char* file;  // without it the controller is of no use
};
constexpr std::array<ControllerFile, 4> kControllers{{
    {v1::memory, "memory", "memory.limit_in_bytes"},
    {v1::pids, "pids", "pids.max"},
    {v1::cpu, "cpu", "cpu.cfs_quota_us"},
    {v1::cpuacct, "cpuacct", "cpuacct.usage"},
}};

class CgroupV1Parent final : public CgroupParent {
 public:
  void add(const ControllerFile& controller, const std::vector<CgroupMount>& mounts,
           std::string_view own, const std::string& name);
  // Whether a group can really be made, and what is in it.
  void probe();

  [[nodiscard]] plan::CgroupVersion version() const override { return plan::CgroupVersion::v1; }
  [[nodiscard]] std::string path() const override {
    return home_->hierarchies.empty() ? "" : home_->hierarchies.front().parent.path;
  }
  [[nodiscard]] Feature memory() const override { return features_[0]; }
  [[nodiscard]] Feature pids() const override { return features_[1]; }
  [[nodiscard]] Feature cpu() const override { return features_[2]; }
  [[nodiscard]] bool swap_limited() const override { return home_->memsw || !swap_in_use(); }

  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make(bool cpu) override;
  std::size_t sweep() override;

 private:
  [[nodiscard]] bool all_works();
  void probe(V1Hierarchy& hierarchy);
  [[nodiscard]] Feature& feature(v1::Controller bit);
  [[nodiscard]] Result<std::unique_ptr<CgroupV1>> make_unopened(unsigned controllers);

  std::array<Feature, kControllers.size()> features_{};
  std::shared_ptr<V1Home> home_ = std::make_shared<V1Home>();
  CgroupNames names_;
  std::unique_ptr<CgroupV1> first_;  // made to see whether it works; the first run gets it
};

Feature& CgroupV1Parent::feature(v1::Controller bit) {
  std::size_t index = 0;
  while (kControllers[index].bit != bit) ++index;
  return features_[index];
}

void CgroupV1Parent::add(const ControllerFile& controller, const std::vector<CgroupMount>& mounts,
                         std::string_view own, const std::string& name) {
  Feature& feature = this->feature(controller.bit);
  const std::string title = std::string("the ") + controller.name + " controller";
  const auto group = group_of(own, controller.name);
  const CgroupMount* const mount = group ? mount_for(mounts, controller.name, *group) : nullptr;
  if (mount == nullptr) {
    feature = {false, title + " has no mounted cgroup v1 hierarchy",
               std::string("mount it: mount -t cgroup -o ") + controller.name +
                   " cgroup /sys/fs/cgroup/" + controller.name};
    return;
  }
  const auto own_below = below(mount->root, *group);
  if (name.empty() && !own_below) {
    feature = {false,
               "the caller's group " + std::string(*group) + " is not visible in " + mount->point,
               "name a group that is by --cgroup-parent"};
    return;
  }
  std::string relative = name;
  if (name.empty()) relative = own_below->empty() ? "cordon" : *own_below + "/cordon";
  const std::string parent = full_path(mount->root, relative);
  for (auto& hierarchy : home_->hierarchies) {
    // cpu and cpuacct are often one hierarchy.
    if (hierarchy.parent.path == mount->point + "/" + relative) {
      hierarchy.controllers |= controller.bit;
      feature.works = true;
      return;
    }
  }
  if (controller.bit == v1::memory && name.empty() && !own_below->empty()) {
    // Before Linux 5.11 a group could be free of the limits above it.
    const auto hierarchical =
        read_file(AT_FDCWD, (mount->point + "/" + *own_below + "/memory.use_hierarchy").c_str());
    if (hierarchical && number(*hierarchical) == 0U) {
      feature = {false,
                 "memory.use_hierarchy is 0 in the caller's group: a group below it would "
                 "escape its limit",
                 "write 1 into memory.use_hierarchy of the groups above"};
      return;
    }
  }
  auto dir = open_group(mount->point, relative, true);
  if (!dir) {
    feature = {false, dir.error().message, std::string(advice_for(dir.error().os_error))};
    return;
  }
  feature.works = true;
  home_->hierarchies.push_back({controller.bit, std::move(*dir), parent});
}

bool CgroupV1Parent::all_works() {
  auto group = make_unopened(v1::memory | v1::pids | v1::cpu | v1::cpuacct);
  if (!group) return false;
  for (const auto& controller : kControllers) {
    if (feature(controller.bit).works && !(*group)->has(controller.bit, controller.file)) {
      return false;
    }
  }
  home_->memsw = (*group)->has(v1::memory, "memory.memsw.limit_in_bytes");
  first_ = std::move(*group);
  return true;
}

// What is wrong with this one, where something is.
void CgroupV1Parent::probe(V1Hierarchy& hierarchy) {
  const std::string name = names_.next();
  // A home of its own: only this hierarchy, and gone after the look.
  const auto home = std::make_shared<V1Home>();
  home->hierarchies.push_back(
      {hierarchy.controllers,
       {base::Fd(open_file(hierarchy.parent.fd.get(), ".", O_RDONLY | O_DIRECTORY)),
        hierarchy.parent.path},
       hierarchy.group});
  const auto group = CgroupV1::make(home, name, hierarchy.controllers);
  for (const auto& controller : kControllers) {
    if ((hierarchy.controllers & controller.bit) == 0) continue;
    Feature& feature = this->feature(controller.bit);
    if (!group) {
      feature = {false, group.error().message, ""};
    } else if (!exists(hierarchy.parent.fd.get(), (name + "/" + controller.file).c_str())) {
      feature = {false, "the kernel offers no " + std::string(controller.file),
                 "use a kernel with bandwidth control (CONFIG_CFS_BANDWIDTH)"};
    }
    if (!feature.works) hierarchy.controllers &= ~static_cast<unsigned>(controller.bit);
  }
  if (group && (hierarchy.controllers & v1::memory) != 0) {
    home_->memsw =
        exists(hierarchy.parent.fd.get(), (name + "/memory.memsw.limit_in_bytes").c_str());
  }
}

void CgroupV1Parent::probe() {
  if (all_works()) return;
  for (auto& hierarchy : home_->hierarchies) probe(hierarchy);
  std::erase_if(home_->hierarchies, [](const V1Hierarchy& h) { return h.controllers == 0; });
}

Result<std::unique_ptr<CgroupV1>> CgroupV1Parent::make_unopened(unsigned controllers) {
  auto group = CgroupV1::make(home_, names_.next(), controllers);
  // Taken by a second parent in this process.
  while (!group && group.error().os_error == EEXIST) {
    group = CgroupV1::make(home_, names_.next(), controllers);
  }
  return group;
}

Result<std::unique_ptr<Cgroup>> CgroupV1Parent::make(bool cpu) {
  // Memory, processes and processor time are counted for every run, limited or not.
  unsigned controllers = v1::memory | v1::pids | v1::cpuacct;
  if (cpu) controllers |= v1::cpu;
  auto group = first_ ? std::move(first_) : make_unopened(controllers);
  if (!group) return std::unexpected(std::move(group.error()));
  if (auto opened = (*group)->open(); !opened) return std::unexpected(std::move(opened.error()));
  return std::move(*group);
}

std::size_t CgroupV1Parent::sweep() {
  const auto dirs = home_->dirs();
  home_->leftovers.remove(dirs);
  const auto& self = names_.self();
  return self ? sweep_groups(dirs, *self) : 0;
}

}  // namespace

Result<std::unique_ptr<CgroupParent>> open_cgroup_v1(const std::vector<CgroupMount>& mounts,
                                                     std::string_view own,
                                                     const std::string& name) {
  auto parent = std::make_unique<CgroupV1Parent>();
  for (const auto& controller : kControllers) parent->add(controller, mounts, own, name);
  parent->probe();
  if (!parent->memory().works && !parent->pids().works && !parent->cpu().works) {
    const Feature memory = parent->memory();
    return base::fail(ErrorCode::unsupported, "cgroup",
                      "no control group can be made: " + memory.why +
                          (memory.fix.empty() ? "" : "; " + memory.fix));
  }
  return parent;
}

}  // namespace cordon::linux_backend
