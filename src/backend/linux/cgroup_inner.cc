// Groups of programs below that of their sandbox: the part of cgroup.h that is for long-lived ones.
//
// Their names are numbers: programs see them in /proc/self/cgroup.
#include <fcntl.h>

#include <cerrno>
#include <string>
#include <utility>

#include "backend/linux/cgroup_table.h"
#include "backend/linux/cgroup_v1_group.h"
#include "backend/linux/cgroup_v2_group.h"
#include "backend/linux/cgroup_values.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

class InnerV1 final : public InnerGroups {
 public:
  explicit InnerV1(std::shared_ptr<V1Home> home) : home_(std::move(home)) {}
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make() override {
    auto group = CgroupV1::make(home_, std::to_string(next_++),
                                v1::memory | v1::pids | v1::cpu | v1::cpuacct);
    if (!group) return std::unexpected(std::move(group.error()));
    if (auto opened = (*group)->open(); !opened) return std::unexpected(std::move(opened.error()));
    return std::move(*group);
  }

 private:
  std::shared_ptr<V1Home> home_;
  std::uint64_t next_ = 1;
};

class InnerV2 final : public InnerGroups {
 public:
  explicit InnerV2(std::shared_ptr<V2Home> home) : home_(std::move(home)) {}
  [[nodiscard]] Result<std::unique_ptr<Cgroup>> make() override {
    auto group = CgroupV2::make(home_, std::to_string(next_++));
    if (!group) return std::unexpected(std::move(group.error()));
    (*group)->watch();
    if (auto open = (*group)->open_door(); !open) return std::unexpected(std::move(open.error()));
    return std::move(*group);
  }

 private:
  std::shared_ptr<V2Home> home_;
  std::uint64_t next_ = 1;
};

}  // namespace

Result<std::unique_ptr<InnerGroups>> CgroupV1::subdivide() {
  const auto inner = std::make_shared<V1Home>();
  inner->memsw = home_->memsw;
  for (const V1Hierarchy* const in : in_) {
    base::Fd dir = open_file(in->parent.fd.get(), name_.c_str(), O_RDONLY | O_DIRECTORY);
    const std::string path = in->parent.path + "/" + name_;
    if (!dir) return base::fail_os("cgroup", errno, "opening " + path);
    if ((in->controllers & v1::memory) != 0) {
      // Always so since Linux 5.11.
      const auto hierarchical = read_file(dir.get(), "memory.use_hierarchy");
      if (hierarchical && number(*hierarchical) == 0U &&
          write_file(dir.get(), "memory.use_hierarchy", "1") != 0) {
        return base::fail(ErrorCode::unsupported, "cgroup",
                          "groups below " + path +
                              " would escape its memory limit: write 1 into memory.use_hierarchy "
                              "of the groups above");
      }
    }
    inner->hierarchies.push_back(
        {in->controllers, {std::move(dir), path}, full_path(in->group, name_)});
  }
  return std::make_unique<InnerV1>(inner);
}

Result<std::unique_ptr<InnerGroups>> CgroupV2::subdivide() {
  const auto inner = std::make_shared<V2Home>();
  inner->swap_max = home_->swap_max;
  inner->place.features = home_->place.features;
  inner->place.group = full_path(home_->place.group, name_);
  inner->place.parent = {open_file(dir_.fd.get(), ".", O_RDONLY | O_DIRECTORY), dir_.path};
  if (!inner->place.parent.fd) return base::fail_os("cgroup", errno, "opening " + dir_.path);
  for (std::size_t i = 0; i < kV2Controllers.size(); ++i) {
    if (!inner->place.features[i].works) continue;
    const int error =
        write_file(dir_.fd.get(), "cgroup.subtree_control", std::string("+") + kV2Controllers[i]);
    if (error == 0) continue;
    return base::fail_os(
        "cgroup", error,
        std::string("handing ") + kV2Controllers[i] + " on to the groups below " + dir_.path);
  }
  auto own = CgroupV2::make(inner, "0");
  if (!own) return std::unexpected(std::move(own.error()));
  own_ = std::move(*own);
  (void)write_file(dir_.fd.get(), "memory.oom.group", "0");
  return std::make_unique<InnerV2>(inner);
}

Result<void> CgroupV2::open_door() {
  procs_ = open_file(dir_.fd.get(), "cgroup.procs", O_WRONLY);
  if (!procs_) return base::fail_os("cgroup", errno, "opening " + dir_.path + "/cgroup.procs");
  return {};
}

}  // namespace cordon::linux_backend
