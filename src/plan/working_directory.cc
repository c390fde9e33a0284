#include <algorithm>
#include <array>
#include <iterator>

#include "base/errors.h"
#include "base/paths.h"
#include "plan/grants.h"

namespace cordon::plan {
namespace {

using Kind = View::Kind;

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "plan", std::move(message));
}

// The innermost of the views that `path` is at or below.
const View* covering(const std::vector<View>& views, std::string_view path) {
  const View* best = nullptr;
  for (const View& view : views) {
    if (!base::at_or_below(path, view.target)) continue;
    if (best == nullptr || view.target.size() > best->target.size()) best = &view;
  }
  return best;
}

// Below a tmpfs of the sandbox there is only what is mounted there.
bool shown_by(const View* view, std::string_view path) {
  if (view == nullptr) return false;
  return view->kind == Kind::bind || (view->kind == Kind::tmpfs && view->target == path);
}

Result<std::string> absolute_cwd(const Request& request, const Caller& caller) {
  std::string path = request.cwd.empty() ? caller.cwd : request.cwd;
  const bool relative = !path.empty() && !path.starts_with('/');
  if (relative && caller.cwd.starts_with('/')) path = caller.cwd + "/" + path;
  if (auto normal = base::normalise(path)) return *normal;
  if (path.empty()) {
    return bad(
        "the current directory was removed, or cannot be read: go to another, or name one by "
        "--cwd DIR");
  }
  return bad("the working directory \"" + path +
             "\" is not an absolute path without \"..\": name it by --cwd DIR");
}

// Why this directory is not shown unless it is asked for by name; empty: it is.
std::string refusal(const std::string& cwd, const std::string& home) {
  if (cwd == "/") return "the root of the file system";
  if (cwd == home) return "your home directory";
  if (!home.empty() && base::strictly_below(home, cwd)) return "above your home directory " + home;
  if (base::at_or_below(cwd, "/etc") || base::at_or_below(cwd, "/boot") || cwd == "/var" ||
      cwd == "/run" || cwd == "/root") {
    return "a directory of the system";
  }
  if (cwd == "/tmp" || cwd == "/var/tmp") return "shared by everybody on this host";
  return {};
}

}  // namespace

Result<std::string> cwd_in_root(const Request& request) {
  if (request.cwd.empty()) return "/";
  if (auto normal = base::normalise(request.cwd)) return *normal;
  return bad("the working directory \"" + request.cwd +
             "\" is a place in the root that was given, so write it as an absolute path without "
             "\"..\"");
}

Result<std::string> place_cwd(const Request& request, const Caller& caller,
                              const std::vector<View>& defaults, std::vector<View>& granted) {
  auto cwd = absolute_cwd(request, caller);
  if (!cwd) return cwd;
  constexpr std::array<std::string_view, 3> kOwn = {"/proc", "/sys", "/dev"};
  for (const std::string_view top : kOwn) {
    if (base::at_or_below(*cwd, top)) {
      return bad("the working directory " + *cwd + " is in " + std::string(top) +
                 ", which is not the host's inside a sandbox: choose another by --cwd DIR");
    }
  }
  if (const auto ours = own_directory_of(*cwd, caller.own); !ours.empty()) {
    return bad("the working directory " + *cwd + " is in " + std::string(ours) +
               ", which is Cordon's own and never shown to a sandbox: choose another by --cwd DIR");
  }
  const View* grant = covering(granted, *cwd);
  if (shown_by(grant, *cwd)) return cwd;
  if (const View* view = covering(defaults, *cwd);
      grant == nullptr && view != nullptr && view->kind == Kind::bind) {
    return cwd;
  }
  if (const auto why = refusal(*cwd, base::normalise(caller.home).value_or("")); !why.empty()) {
    return bad("the working directory " + *cwd + " is " + why +
               ": name what the program may see, e.g. --read DIR or --write DIR, and a directory "
               "to run in by --cwd DIR");
  }
  granted.push_back({.target = *cwd, .source = *cwd, .granted = true});
  std::ranges::move(masks_over(*cwd, *cwd, caller.own), std::back_inserter(granted));
  return cwd;
}

}  // namespace cordon::plan
