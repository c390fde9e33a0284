#include "backend/linux/real_paths.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/paths.h"

namespace cordon::linux_backend {
namespace {

std::optional<std::string> real_path(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_NO_MAGICLINKS;
  const base::Fd file(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  if (!file) return std::nullopt;
  const std::string link = "/proc/self/fd/" + std::to_string(file.get());
  char target[PATH_MAX];
  const ssize_t size = ::readlink(link.c_str(), target, sizeof target);
  if (size <= 0 || size == sizeof target || target[0] != '/') return std::nullopt;
  return std::string(target, static_cast<std::size_t>(size));
}

// Inside, that name is a grant's, whatever the host has there.
bool is_made_inside(const Request& request, std::string_view path) {
  return std::ranges::any_of(request.grants, [&](const Grant& grant) {
    const auto target = base::normalise(grant.target);
    return target && base::at_or_below(path, *target);
  });
}

}  // namespace

Request with_real_paths(Request request) {
  for (Grant& grant : request.grants) {
    if (grant.kind == Grant::Kind::tmpfs || !base::normalise(grant.source)) continue;
    if (grant.target.empty()) grant.target = grant.source;
    if (request.links_resolved) continue;
    if (auto real = real_path(grant.source)) grant.source = std::move(*real);
  }
  if (!request.root.empty()) {
    // Also without links, so that the plan can judge it by its name.
    if (const auto normal = base::normalise(request.root)) request.root = *normal;
    if (request.links_resolved) return request;
    if (auto real = real_path(request.root)) request.root = std::move(*real);
    return request;  // the working directory is a place in it
  }
  if (request.links_resolved) return request;
  const bool absolute = request.cwd.starts_with('/');
  const auto cwd = base::normalise(request.cwd);
  if (!request.cwd.empty() && (!absolute || (cwd && !is_made_inside(request, *cwd)))) {
    if (auto real = real_path(request.cwd)) request.cwd = std::move(*real);
  }
  return request;
}

}  // namespace cordon::linux_backend
