#include "backend/gvisor/oci_bundle.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/errors.h"
#include "base/fd.h"
#include "base/paths.h"

namespace cordon::gvisor_backend {
namespace {

using plan::View;
using Kind = plan::View::Kind;

constexpr const char* kStage = "bundle";
constexpr mode_t kDirectory = 0755;
constexpr mode_t kFile = 0644;

Result<void> make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectory) == 0) {
    // Whatever the caller's mask is.
    if (::chmod(path.c_str(), kDirectory) == 0) return {};
  } else if (errno == EEXIST) {
    return {};
  }
  return base::fail_os(kStage, errno, "making the directory " + path);
}

// Every directory of `inside` below `root`, the last part left out.
Result<void> make_parents(const std::string& root, std::string_view inside) {
  for (std::size_t slash = inside.find('/', 1); slash != std::string_view::npos;
       slash = inside.find('/', slash + 1)) {
    if (auto made = make_directory(root + std::string(inside.substr(0, slash))); !made) return made;
  }
  return {};
}

Result<void> write_file(const std::string& path, std::string_view content) {
  const base::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFile));
  if (!file) return base::fail_os(kStage, errno, "making the file " + path);
  while (!content.empty()) {
    const ssize_t size = ::write(file.get(), content.data(), content.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return base::fail_os(kStage, errno, "writing the file " + path);
    content.remove_prefix(static_cast<std::size_t>(size));
  }
  if (::fchmod(file.get(), kFile) != 0) return base::fail_os(kStage, errno, "writing " + path);
  return {};
}

// The view that `path` lies in, other than the one that is there itself.
const BundleView* around(const std::vector<BundleView>& views, std::string_view path) {
  const BundleView* best = nullptr;
  for (const BundleView& open : views) {
    if (!base::strictly_below(path, open.view.target)) continue;
    if (best == nullptr || open.view.target.size() > best->view.target.size()) best = &open;
  }
  return best;
}

// Whether what is shown has such a place.
bool has_place(const BundleView& shown, const std::string& below) {
  if (!shown.source) return ::access((shown.view.source + "/" + below).c_str(), F_OK) == 0;
  return ::faccessat(shown.source->get(), below.c_str(), F_OK, 0) == 0;
}

std::string sources_of(const std::string& directory) { return directory + "/sources"; }

bool is_pinned(const BundleView& open) { return open.view.kind == Kind::bind && open.source; }

Result<void> make_sources(const std::string& directory, const Bundle& bundle) {
  const std::string sources = sources_of(directory);
  if (auto made = make_directory(sources); !made) return made;
  for (std::size_t i = 0; i < bundle.views.size(); ++i) {
    if (!is_pinned(bundle.views[i])) continue;
    const std::string at = sources + "/" + std::to_string(i);
    auto made = bundle.views[i].directory ? make_directory(at) : write_file(at, "");
    if (!made) return made;
  }
  return {};
}

Result<void> place(const std::string& root, const BundleView& open) {
  const View& view = open.view;
  // gVisor's own, or where a pipe of it ends.
  if (base::at_or_below(view.target, "/dev")) return {};
  if (auto made = make_parents(root, view.target); !made) return made;
  const std::string at = root + view.target;
  switch (view.kind) {
    case Kind::symlink:
      if (::symlink(view.content.c_str(), at.c_str()) != 0) {
        return base::fail_os(kStage, errno, "making the link " + at);
      }
      return {};
    case Kind::file:
      return write_file(at, view.content);
    case Kind::bind:
      return open.directory ? make_directory(at) : write_file(at, "");
    case Kind::tmpfs:
    case Kind::proc:
      return make_directory(at);
    case Kind::secrets:
    case Kind::device:
    case Kind::devpts:
      return {};
  }
  return {};
}

}  // namespace

Result<void> check_places(const std::vector<BundleView>& views) {
  for (const BundleView& open : views) {
    const BundleView* const shown = around(views, open.view.target);
    const View* const above = shown == nullptr ? nullptr : &shown->view;
    if (above != nullptr && above->kind == Kind::symlink) {
      return base::fail(ErrorCode::invalid_argument, kStage,
                        "nothing can be shown at " + open.view.target + ": " + above->target +
                            " is a link to " + above->content + "; name the place it leads to");
    }
    if (above == nullptr || above->kind != Kind::bind) continue;
    const std::string below = open.view.target.substr(above->target.size() + 1);
    if (has_place(*shown, below)) continue;
    const std::string there = above->source + "/" + below;
    return base::fail(ErrorCode::invalid_argument, kStage,
                      "nothing can be shown at " + open.view.target + ": " + above->source +
                          " of the host is shown around it, and has no such place; make " + there +
                          " first, or choose another place");
  }
  return {};
}

Result<void> write_bundle(const std::string& directory, const Bundle& bundle) {
  const std::string root = directory + "/rootfs";
  if (auto made = make_directory(root); !made) return made;
  for (const BundleView& open : bundle.views) {
    // What lies in something of the host's is there already.
    const BundleView* const above = around(bundle.views, open.view.target);
    if (above != nullptr && above->view.kind == Kind::bind) continue;
    if (auto placed = place(root, open); !placed) return placed;
  }
  if (!bundle.pinned) return write_file(directory + "/config.json", config_text(bundle));
  if (auto made = make_sources(directory, bundle); !made) return made;
  return write_file(directory + "/config.json", config_text(bundle, sources_of(directory)));
}

Result<std::vector<Mount>> pinned_mounts(const std::string& directory, const Bundle& bundle) {
  std::vector<Mount> mounts;
  if (!bundle.pinned) return mounts;
  for (std::size_t i = 0; i < bundle.views.size(); ++i) {
    const BundleView& open = bundle.views[i];
    if (!is_pinned(open)) continue;
    base::Fd tree(static_cast<int>(
        ::syscall(SYS_open_tree, open.source->get(), "",
                  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE)));
    if (!tree) return base::fail_os(kStage, errno, "taking what is at " + open.view.source);
    mounts.push_back({std::move(tree), sources_of(directory) + "/" + std::to_string(i)});
  }
  return mounts;
}

}  // namespace cordon::gvisor_backend
