#include "backend/linux/exec_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "backend/linux/root_listing.h"
#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::linux_backend {
namespace {

std::string absolute(const std::string& path, const std::string& cwd) {
  return (std::filesystem::path(cwd) / path).lexically_normal();
}

// Where to look at what the sandbox shows there: a path on the host, or a descriptor of it. Links
// of a given root lead to other places than on the host.
struct Seen {
  std::string path;
  base::Fd held{};
};

Seen seen_at(const plan::SandboxPlan& plan, const std::string& inside) {
  std::string path = host_path(plan.root, inside);
  const bool of_root = !plan.rootfs.empty() && (path == inside || path == plan.rootfs + inside);
  if (!of_root) return {std::move(path)};
  base::Fd found = open_in_root(plan.rootfs, inside);
  if (!found) return {};
  std::string link = "/proc/self/fd/" + std::to_string(found.get());
  return {std::move(link), std::move(found)};
}

Error not_in_root(const Request& request, const plan::SandboxPlan& plan, int os_error) {
  const std::string what = request.program + " in the root " + plan.rootfs;
  switch (os_error) {
    case ENOENT:
      return {ErrorCode::not_found, "exec", os_error,
              what +
                  " was not found, or its interpreter or loader: names and PATH are looked up "
                  "in that root"};
    case EACCES:
      return {ErrorCode::not_executable, "exec", os_error,
              what + " is not executable: chmod +x it, or name another"};
    case ENOEXEC:
      return {ErrorCode::not_executable, "exec", os_error,
              what +
                  " is of a format that cannot be executed here: a program for another "
                  "processor, or a script without #!"};
    default:
      return base::fail_os("exec", os_error, "executing " + what).error();
  }
}

}  // namespace

std::vector<std::string> exec_paths(const std::string& program,
                                    std::span<const std::string> environment) {
  if (program.find('/') != std::string::npos) return {program};
  std::string_view folders = posix::path_of(environment);
  std::vector<std::string> paths;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    if (folder.starts_with('/')) paths.push_back(std::string(folder) + "/" + program);
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return paths;
}

std::string host_path(const std::vector<plan::View>& views, const std::string& inside) {
  const plan::View* best = nullptr;
  for (const plan::View& view : views) {
    const std::string& target = view.target;
    const bool covers =
        inside == target || (inside.starts_with(target) && inside[target.size()] == '/');
    if (covers && (best == nullptr || target.size() > best->target.size())) best = &view;
  }
  if (best == nullptr) return {};
  if (best->kind == plan::View::Kind::symlink) return inside;  // as on the host
  if (best->kind != plan::View::Kind::bind) return {};
  return best->source + inside.substr(best->target.size());
}

Result<std::string> find_inside(const Request& request, const plan::SandboxPlan& plan) {
  for (const std::string& path : exec_paths(request.program, posix::environment_for(request))) {
    const Seen seen = seen_at(plan, absolute(path, plan.cwd));
    struct stat info{};
    if (seen.path.empty() || ::stat(seen.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
      continue;
    }
    if (::faccessat(AT_FDCWD, seen.path.c_str(), X_OK, AT_EACCESS) == 0) return path;
  }
  const Seen seen = seen_at(plan, absolute(request.program, plan.cwd));
  const bool there = !seen.path.empty() && ::access(seen.path.c_str(), F_OK) == 0;
  return std::unexpected(explain_not_executed(request, plan, there ? EACCES : ENOENT));
}

Error explain_not_executed(const Request& request, const plan::SandboxPlan& plan, int os_error) {
  if (!plan.rootfs.empty()) return not_in_root(request, plan, os_error);
  std::string path = request.program;
  if (path.find('/') == std::string::npos) {
    auto found = posix::find_program(path, posix::environment_for(request));
    if (!found) return found.error();
    path = *found;
  }
  path = absolute(path, plan.cwd);

  const std::string seen = host_path(plan.root, path);
  std::error_code ignored;
  const bool hidden = os_error == ENOENT && seen.empty() && std::filesystem::exists(path, ignored);
  if (!hidden) return posix::explain_exec_failure(seen.empty() ? path : seen, plan.cwd, os_error);
  if (std::filesystem::is_directory(path, ignored)) {
    return posix::explain_exec_failure(path, plan.cwd, EACCES);
  }
  // No errno: it is Cordon that refuses.
  return {ErrorCode::not_permitted, "exec", 0,
          path + " exists, but the sandbox was not given it: grant it, e.g. --read " +
              std::string(std::filesystem::path(path).parent_path())};
}

}  // namespace cordon::linux_backend
