// The sandbox's file system: steps that build a new root out of what is granted, and nothing else.
#pragma once

#include <linux/mount.h>

#include <optional>
#include <vector>

#include "backend/linux/script_builder.h"
#include "backend/linux/secret_parts.h"
#include "backend/linux/views.h"

namespace cordon::linux_backend {

// The step at which a grant to write is refused that the file system cannot map to the program's
// ids; its argument is the path.
inline constexpr const char* kIdmapStep = "idmapped mount";

// Steps of the set-up process, in this order. Namespaces are entered in between: a privileged
// caller's grants are taken while the process is still on the host, so that exactly what the
// supervisor has opened is mounted, and with mapped ids; an ordinary user's only inside its own
// namespaces, where the kernel allows it, and compared with what the supervisor has seen.
class MountSteps {
 public:
  // `secrets` fill a view of that kind, if there is one.
  MountSteps(ScriptBuilder& script, const std::vector<OpenView>& views,
             const SecretFiles* secrets = nullptr)
      : script_(script), views_(views), secrets_(secrets) {}

  // `idmap` is the (sent) descriptor of a user namespace for granted views, `root` of a root that
  // holds all views that are `prepared` (root_template.h); -1: none.
  void take_from_host(int idmap, int root);
  void take_by_path();
  // In the new mount namespace: builds the root, beside the host's.
  void assemble();
  // Then: the program itself, if it is pinned. Whatever its path comes to mean, this is what was
  // checked.
  [[nodiscard]] std::optional<Register> executable() const { return executable_; }

  // Instead of all others: the part of the root that every run of this kind shares, mounted
  // nowhere, with places for the rest. Its descriptor is kept in the result.
  [[nodiscard]] Register assemble_shared();

  // Steps of the program, inside the pid namespace: adds /proc, and makes the new root the root of
  // itself and of init.
  void enter();
  // A step of init, after that: takes the host's root away. The kernel needs some time for it, in
  // which the program goes on with other steps.
  void drop_host_root();

 private:
  void set_attributes(Register mount, const OpenView& open, int idmap);
  void map_ids(Register mount, const OpenView& open, int idmap);
  void set(Register mount, const mount_attr& attributes, int tolerated);
  void place(const OpenView& open, Register mount);
  void add(const OpenView& open);
  void make_read_only(Register mount, unsigned flags);
  void make_directories(const std::string& path);
  void make_target(const OpenView& open);
  void make_file(const plan::View& view);
  [[nodiscard]] Register make_tmpfs(std::uint64_t size, std::uint32_t mode);
  [[nodiscard]] bool below_bind(const std::string& target) const;

  ScriptBuilder& script_;
  const std::vector<OpenView>& views_;
  const SecretFiles* secrets_;
  std::vector<Register> taken_;  // one for each bind and device, in order
  std::size_t next_taken_ = 0;
  Register root_;
  bool has_root_ = false;
  std::optional<Register> executable_;
  std::vector<Register> unsealed_;  // to become read-only when everything is in its place
  std::vector<std::string> made_;
  std::vector<std::string> binds_;
  std::vector<std::string> own_;  // tmpfs of this run
};

// For each, whether runs can share it: it is the same for all, cannot be written to, and lies in
// nothing that they do not share.
[[nodiscard]] std::vector<bool> shared_views(const std::vector<OpenView>& views);

}  // namespace cordon::linux_backend
