#include "backend/linux/exec_paths.h"

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "backend/posix/lookup.h"
#include "base/errors.h"

namespace cordon::linux_backend {

std::vector<std::string> exec_paths(const std::string& program,
                                    std::span<const std::string> environment) {
  if (program.find('/') != std::string::npos) return {program};
  std::string_view folders = posix::search_path(environment);
  std::vector<std::string> paths;
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    if (folder.starts_with('/')) paths.push_back(std::string(folder) + "/" + program);
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return paths;
}

std::string host_path(const std::vector<OpenView>& views, const std::string& inside) {
  const plan::View* best = nullptr;
  for (const OpenView& open : views) {
    const std::string& target = open.view.target;
    const bool covers =
        inside == target || (inside.starts_with(target) && inside[target.size()] == '/');
    if (covers && (best == nullptr || target.size() > best->target.size())) best = &open.view;
  }
  if (best == nullptr) return {};
  if (best->kind == plan::View::Kind::symlink) return inside;  // as on the host
  if (best->kind != plan::View::Kind::bind) return {};
  return best->source + inside.substr(best->target.size());
}

Error explain_not_executed(const Request& request, const std::string& cwd,
                           const std::vector<OpenView>& views, int os_error) {
  const auto environment = posix::environment_for(request);
  const bool by_name = request.program.find('/') == std::string::npos;
  std::string path = request.program;
  if (by_name) {
    auto found = posix::find_program(request.program, environment);
    if (!found) return found.error();
    path = *found;
  } else if (!path.starts_with('/')) {
    path = cwd + "/" + path;
  }
  path = std::filesystem::path(path).lexically_normal();

  const std::string seen = host_path(views, path);
  std::error_code ignored;
  if (seen.empty() && std::filesystem::exists(path, ignored)) {
    return {ErrorCode::not_found, "exec", os_error,
            path + " exists, but the sandbox was not given it: grant it, e.g. --read " +
                std::string(std::filesystem::path(path).parent_path())};
  }
  return posix::explain_exec_failure(seen.empty() ? path : seen, cwd, os_error);
}

}  // namespace cordon::linux_backend
