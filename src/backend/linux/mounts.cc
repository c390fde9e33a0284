#include "backend/linux/mounts.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace cordon::linux_backend {
namespace {

using plan::View;

constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE, hidden behind _GNU_SOURCE in places
constexpr std::uint64_t kRootSize = 1024 * 1024;

bool is_bind(const View& view) {
  return view.kind == View::Kind::bind || view.kind == View::Kind::device;
}

// "/usr/lib" → "usr/lib"
std::string_view inside(std::string_view target) { return target.substr(1); }

}  // namespace

void MountSteps::set_attributes(Register mount, const OpenView& open, int idmap) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID;
  if (open.view.kind != View::Kind::device) attributes.attr_set |= MOUNT_ATTR_NODEV;
  if (!open.view.writable) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  attributes.propagation = MS_PRIVATE;
  if (idmap >= 0 && open.view.granted) map_ids(mount, open, idmap);
  set(mount, attributes, 0);
}

// Some file systems cannot do it. What the program only reads it then sees with the owners that it
// has on the host; a place to write to would be none.
void MountSteps::map_ids(Register mount, const OpenView& open, int idmap) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_IDMAP;
  attributes.userns_fd = static_cast<std::uint64_t>(idmap);
  if (!open.view.writable) return set(mount, attributes, spawner::kAnyError);
  script_.about(kIdmapStep, open.view.source);
  set(mount, attributes, 0);
  script_.about("mount", open.view.source);
}

void MountSteps::set(Register mount, const mount_attr& attributes, int tolerated) {
  script_.call(__NR_mount_setattr,
               {mount, script_.text(""), AT_EMPTY_PATH | kRecursive, script_.object(attributes),
                sizeof attributes},
               tolerated);
}

namespace {

bool is_same_for_all(const View& view) {
  switch (view.kind) {
    case View::Kind::bind:
      return !view.granted && !view.writable;
    case View::Kind::tmpfs:
      return !view.writable;
    case View::Kind::secrets:
    case View::Kind::devpts:
      return false;
    case View::Kind::device:
    case View::Kind::file:
    case View::Kind::symlink:
    case View::Kind::proc:
      return true;
  }
  return false;
}

}  // namespace

// What lies in a place of the run's own has to be put there after that: else it would be below.
std::vector<bool> shared_views(const std::vector<OpenView>& views) {
  std::vector<bool> shared;
  std::vector<std::string_view> own;
  for (const OpenView& open : views) {
    const std::string_view target = open.view.target;
    const bool inside_own = std::ranges::any_of(own, [&](std::string_view place) {
      return target == place || (target.starts_with(place) && target[place.size()] == '/');
    });
    shared.push_back(!inside_own && is_same_for_all(open.view));
    if (!shared.back()) own.push_back(target);
  }
  return shared;
}

void MountSteps::take_from_host(int idmap, int root) {
  if (root >= 0) {
    script_.about("mount", "/");
    root_ = script_.call_into(
        __NR_open_tree,
        {root, script_.text(""), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive});
    script_.call(__NR_close, {root});
    has_root_ = true;
  }
  for (const OpenView& open : views_) {
    if (!is_bind(open.view) || !open.source) continue;
    script_.about("mount", open.view.source);
    const int source = script_.send_fd(open.source.get());
    const Register mount = script_.call_into(
        __NR_open_tree, {source, script_.text(""),
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive});
    script_.call(__NR_close, {source});
    set_attributes(mount, open, idmap);
    taken_.push_back(mount);
  }
}

void MountSteps::take_by_path() {
  for (const OpenView& open : views_) {
    if (!is_bind(open.view)) continue;
    script_.about("mount", open.view.source);
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_MAGICLINKS;
    const Register source = script_.call_into(
        __NR_openat2, {AT_FDCWD, script_.text(open.view.source), script_.object(how), sizeof how});
    script_.op(spawner::Op::expect, {source, open.device, open.inode});
    const Register mount = script_.call_into(
        __NR_open_tree, {source, script_.text(""),
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | kRecursive});
    script_.close(source);
    set_attributes(mount, open, -1);
    taken_.push_back(mount);
  }
}

Register MountSteps::make_tmpfs(std::uint64_t size, std::uint32_t mode) {
  const auto set = [&](Register context, const char* key, const std::string& value) {
    script_.call(__NR_fsconfig,
                 {context, FSCONFIG_SET_STRING, script_.text(key), script_.text(value), 0});
  };
  char octal[16];
  std::snprintf(octal, sizeof octal, "%o", mode);
  const Register context = script_.call_into(__NR_fsopen, {script_.text("tmpfs"), FSOPEN_CLOEXEC});
  set(context, "size", std::to_string(size));
  set(context, "mode", octal);
  script_.call(__NR_fsconfig, {context, FSCONFIG_CMD_CREATE, 0, 0, 0});
  const Register mount = script_.call_into(
      __NR_fsmount, {context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV});
  script_.close(context);
  return mount;
}

bool MountSteps::below_bind(const std::string& target) const {
  return std::ranges::any_of(binds_, [&](const std::string& bind) {
    return target.size() > bind.size() && target.starts_with(bind) && target[bind.size()] == '/';
  });
}

void MountSteps::make_directories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    std::string part = path.substr(0, slash);
    if (std::ranges::find(made_, part) == made_.end()) {
      script_.call(__NR_mkdirat, {root_, script_.text(inside(part)), 0755}, EEXIST);
      made_.push_back(std::move(part));
    }
    if (slash == std::string::npos) return;
  }
}

// A place to mount on. Below a bind nothing is made: that would be made on the host.
void MountSteps::make_target(const OpenView& open) {
  const std::string& target = open.view.target;
  if (below_bind(target)) return;
  // A shared root has all places, except in what is the run's own.
  const auto holds = [&](const std::string& place) { return target.starts_with(place + "/"); };
  if (has_root_ && std::ranges::none_of(own_, holds)) return;
  const bool file = is_bind(open.view) && !open.directory;
  if (!file) return make_directories(target);
  const std::size_t slash = target.rfind('/');
  if (slash > 0) make_directories(target.substr(0, slash));
  script_.call(__NR_mknodat, {root_, script_.text(inside(target)), S_IFREG | 0444, 0}, EEXIST);
}

void MountSteps::place(const OpenView& open, Register mount) {
  make_target(open);
  const std::string& target = open.view.target;
  // Below a bind another hand may have been at work: no symbolic link is followed there.
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const Register place = script_.call_into(
      __NR_openat2, {root_, script_.text(inside(target)), script_.object(how), sizeof how});
  script_.call(__NR_move_mount, {mount, script_.text(""), place, script_.text(""),
                                 MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH});
  script_.close(place);
}

void MountSteps::make_file(const View& view) {
  if (below_bind(view.target)) return;  // the host's own was asked for
  const std::size_t slash = view.target.rfind('/');
  if (slash > 0) make_directories(view.target.substr(0, slash));
  const std::uint64_t name = script_.text(inside(view.target));
  if (view.kind == View::Kind::symlink) {
    script_.call(__NR_symlinkat, {script_.text(view.content), root_, name});
    return;
  }
  const Register file = script_.call_into(
      __NR_openat, {root_, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444});
  script_.call(__NR_write, {file, script_.bytes(view.content.data(), view.content.size()),
                            view.content.size()});
  script_.close(file);
}

void MountSteps::add(const OpenView& open) {
  script_.about("mount", open.view.target);
  switch (open.view.kind) {
    case View::Kind::bind:
    case View::Kind::device: {
      const Register mount = taken_[next_taken_++];
      place(open, mount);
      if (open.executed) {
        executable_ = mount;
      } else {
        script_.close(mount);
      }
      binds_.push_back(open.view.target);
      break;
    }
    case View::Kind::tmpfs: {
      const Register mount = make_tmpfs(open.view.size, open.view.mode);
      place(open, mount);
      own_.push_back(open.view.target);
      if (open.view.writable) {
        script_.close(mount);
      } else {
        unsealed_.push_back(mount);
      }
      break;
    }
    case View::Kind::secrets: {
      const Register mount = make_tmpfs(open.view.size, open.view.mode);
      place(open, mount);
      if (secrets_ != nullptr) secrets_->write(mount);
      unsealed_.push_back(mount);
      break;
    }
    case View::Kind::devpts: {
      const Register context =
          script_.call_into(__NR_fsopen, {script_.text("devpts"), FSOPEN_CLOEXEC});
      script_.call(__NR_fsconfig, {context, FSCONFIG_SET_STRING, script_.text("ptmxmode"),
                                   script_.text("0666"), 0});
      script_.call(__NR_fsconfig, {context, FSCONFIG_CMD_CREATE, 0, 0, 0});
      const Register mount = script_.call_into(
          __NR_fsmount, {context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC});
      script_.close(context);
      place(open, mount);
      script_.close(mount);
      break;
    }
    case View::Kind::proc:
      make_directories(open.view.target);
      break;
    case View::Kind::file:
    case View::Kind::symlink:
      make_file(open.view);
      break;
  }
}

void MountSteps::make_read_only(Register mount, unsigned flags) {
  mount_attr read_only{};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  script_.call(__NR_mount_setattr, {mount, script_.text(""), AT_EMPTY_PATH | flags,
                                    script_.object(read_only), sizeof read_only});
}

void MountSteps::assemble() {
  script_.about("mount", "/");
  // Nothing mounted here may show on the host, and nothing mounted there here.
  script_.call(__NR_mount, {0, script_.text("/"), 0, MS_REC | MS_PRIVATE, 0});
  if (!has_root_) {
    root_ = make_tmpfs(kRootSize, 0755);
    unsealed_.push_back(root_);
  }
  script_.call(__NR_move_mount,
               {root_, script_.text(""), AT_FDCWD, script_.text("/"), MOVE_MOUNT_F_EMPTY_PATH});
  for (const OpenView& open : views_) {
    if (!open.prepared) {
      add(open);
    } else if (is_bind(open.view)) {
      binds_.push_back(open.view.target);
    }
  }
  script_.about("mount", "/");
  for (const Register mount : unsealed_) {
    make_read_only(mount, 0);
    if (mount.number != root_.number) script_.close(mount);
  }
}

Register MountSteps::assemble_shared() {
  script_.about("mount", "/");
  root_ = make_tmpfs(kRootSize, 0755);
  std::vector<std::string> own;  // places of a run's own, in which it makes what it needs
  const std::vector<bool> shared = shared_views(views_);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const OpenView& open = views_[i];
    if (shared[i]) {
      add(open);
      continue;
    }
    if (is_bind(open.view) && open.source) ++next_taken_;  // for nobody
    const bool inside_own = std::ranges::any_of(
        own, [&](const std::string& place) { return open.view.target.starts_with(place + "/"); });
    if (!inside_own) make_target(open);
    own.push_back(open.view.target);
  }
  script_.about("mount", "/");
  make_read_only(root_, kRecursive);  // nothing that is shared may be written to
  return root_;
}

void MountSteps::enter() {
  // The kernel allows a new /proc only where another one can still be seen, and mounts the one of
  // the process's own pid namespace: so here, and before the host's root is gone.
  script_.about("mount", "/proc");
  const Register context = script_.call_into(__NR_fsopen, {script_.text("proc"), FSOPEN_CLOEXEC});
  script_.call(__NR_fsconfig, {context, FSCONFIG_CMD_CREATE, 0, 0, 0});
  const Register mount = script_.call_into(
      __NR_fsmount,
      {context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC});
  script_.call(__NR_move_mount,
               {mount, script_.text(""), root_, script_.text("proc"), MOVE_MOUNT_F_EMPTY_PATH});
  script_.close(mount);
  script_.close(context);

  script_.about("pivot_root");
  script_.call(__NR_fchdir, {root_});
  script_.call(__NR_pivot_root, {script_.text("."), script_.text(".")});
  script_.call(__NR_chdir, {script_.text("/")});
  script_.close(root_);
}

void MountSteps::drop_host_root() {
  script_.about("host root");
  script_.call(__NR_chdir, {script_.text("/")});
  script_.call(__NR_umount2, {script_.text("."), MNT_DETACH});  // which now lies on top of the new
}

}  // namespace cordon::linux_backend
