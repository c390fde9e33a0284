#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/paths.h"
#include "plan/grants.h"

namespace cordon::plan {
namespace {

// The view that decides what is seen at `path`: the last mounted of the innermost.
const View* shown_at(const std::vector<View>& root, std::string_view path) {
  const View* best = nullptr;
  for (const View& view : root) {
    if (!base::at_or_below(path, view.target)) continue;
    if (best == nullptr || view.target.size() >= best->target.size()) best = &view;
  }
  return best;
}

std::unexpected<Error> bad(const std::string& path, const std::string& why) {
  return base::fail(ErrorCode::invalid_argument, "plan",
                    path + ", which was checked before it is run, " + why);
}

}  // namespace

Result<std::vector<View>> pinned_views(const Request& request, const std::vector<View>& root) {
  std::vector<View> pins;
  for (const Pin& pin : request.pins) {
    const auto path = base::normalise(pin.path);
    if (!path || *path != pin.path) {
      return bad(pin.path, "is not named by its plain path: leave out \"..\" and what is double");
    }
    const View* view = shown_at(root, *path);
    if (view == nullptr) continue;  // what cannot be seen cannot be executed
    if (view->kind != View::Kind::bind ||
        view->source + path->substr(view->target.size()) != *path) {
      return bad(*path, "is hidden inside by " + view->target + ": leave that grant out");
    }
    if (std::ranges::find(pins, *path, &View::target) != pins.end()) continue;
    pins.push_back({.target = *path, .source = *path, .granted = view->granted});
  }
  return pins;
}

}  // namespace cordon::plan
