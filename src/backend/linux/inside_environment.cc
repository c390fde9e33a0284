#include "backend/linux/inside_environment.h"

#include <algorithm>
#include <string_view>

#include "base/paths.h"

namespace cordon::linux_backend {
namespace {

using plan::View;

// Whether the sandbox has a directory there: the host's, or one of its own.
bool shown(const plan::SandboxPlan& plan, std::string_view path) {
  const View* best = nullptr;
  for (const View& view : plan.root) {
    if (!base::at_or_below(path, view.target)) continue;
    if (best == nullptr || view.target.size() > best->target.size()) best = &view;
  }
  if (best == nullptr) return false;
  // A given root knows nothing of the caller's home.
  if (!plan.rootfs.empty() && best->source == plan.rootfs + best->target) return false;
  return best->kind == View::Kind::bind || best->target == path;
}

bool granted_below(const Request& request, std::string_view path) {
  return std::ranges::any_of(request.grants, [&](const Grant& grant) {
    return base::at_or_below(grant.target.empty() ? grant.source : grant.target, path);
  });
}

}  // namespace

std::vector<std::string> inside_environment(std::vector<std::string> environment,
                                            const Request& request, const plan::SandboxPlan& plan) {
  for (std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    const std::string name = entry.substr(0, equals);
    if (name != "HOME" && name != "TMPDIR") continue;
    if (std::ranges::find(request.env, name, &EnvVar::name) != request.env.end()) continue;
    const auto path = base::normalise(entry.substr(equals + 1));
    if (path && shown(plan, *path)) continue;
    if (path && name == "HOME" && granted_below(request, *path)) continue;
    entry = name + "=/tmp";
  }
  return environment;
}

}  // namespace cordon::linux_backend
