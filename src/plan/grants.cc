#include "plan/grants.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/errors.h"
#include "base/paths.h"

namespace cordon::plan {
namespace {

using Kind = View::Kind;

// Places that are the sandbox's own or the kernel's: showing the host's would open a way out.
constexpr std::array<std::string_view, 3> kReserved = {"/proc", "/sys", "/dev"};

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "plan", std::move(message));
}

std::string name_of(Grant::Kind kind) {
  switch (kind) {
    case Grant::Kind::read:
      return "read";
    case Grant::Kind::write:
      return "write";
    case Grant::Kind::tmpfs:
      return "tmpfs";
  }
  return "unknown";
}

// As an error names it: "read of /a", "write of /a as /b".
std::string name_of(const Grant& grant) {
  if (grant.kind == Grant::Kind::tmpfs) return "tmpfs on " + grant.target;
  const std::string text = name_of(grant.kind) + " of " + grant.source;
  return grant.target.empty() || grant.target == grant.source ? text : text + " as " + grant.target;
}

Result<void> check_place(const std::string& path, const Grant& grant,
                         std::span<const std::string> own) {
  if (path == "/") {
    return bad("grant " + name_of(grant) +
               ": the whole root is never granted: name the directories that the program needs");
  }
  if (const auto ours = own_directory_of(path, own); !ours.empty()) {
    return bad("grant " + name_of(grant) + ": " + std::string(ours) +
               " is Cordon's own: leave this grant out");
  }
  for (const std::string_view top : kReserved) {
    if (base::at_or_below(path, top)) {
      return bad("grant " + name_of(grant) + ": " + std::string(top) +
                 (top == "/sys" ? " of the host is never shown to a sandbox"
                                : " is the sandbox's own, never the host's") +
                 ": leave this grant out");
    }
  }
  if (grant.kind != Grant::Kind::read && is_system(path)) {
    return bad("grant " + name_of(grant) +
               ": system directories are never writable: grant it for reading, or choose another "
               "directory");
  }
  return {};
}

// With its paths normalised and its target filled in.
Result<Grant> checked(const Grant& asked, std::span<const std::string> own) {
  Grant grant = asked;
  const bool tmpfs = grant.kind == Grant::Kind::tmpfs;
  if (tmpfs) {
    grant.source.clear();
    if (grant.size == 0) grant.size = kDefaultTmpfsSize;
  } else {
    grant.size = 0;
    if (grant.target.empty()) grant.target = grant.source;
  }
  for (std::string* path : {&grant.source, &grant.target}) {
    if (tmpfs && path == &grant.source) continue;
    const auto normal = base::normalise(*path);
    if (!normal) {
      return bad("grant " + name_of(asked) + ": \"" + *path +
                 "\" is not an absolute path without \"..\": write it as one");
    }
    *path = *normal;
  }
  for (const std::string* path : {&grant.source, &grant.target}) {
    if (tmpfs && path == &grant.source) continue;
    if (auto ok = check_place(*path, grant, own); !ok) return std::unexpected(ok.error());
  }
  return grant;
}

// An empty, sealed place over a directory of our own: with it, a program could take all the user
// ids that are for runs, or look for the socket of a pool.
View mask_of(const std::string& source, const std::string& target, std::string_view ours) {
  return {.kind = Kind::tmpfs,
          .target = target + std::string(ours.substr(source.size())),
          .source = std::string(ours),
          .optional = true,
          .size = 4096};
}

View view_of(const Grant& grant) {
  if (grant.kind == Grant::Kind::tmpfs) {
    return {.kind = Kind::tmpfs,
            .target = grant.target,
            .writable = true,
            .granted = true,
            .size = grant.size,
            .mode = 01777};
  }
  return {.target = grant.target,
          .source = grant.source,
          .writable = grant.kind == Grant::Kind::write,
          .granted = !is_system(grant.source)};
}

const View* find_target(const std::vector<View>& views, std::string_view target) {
  const auto it = std::ranges::find(views, target, &View::target);
  return it == views.end() ? nullptr : &*it;
}

// Below a granted directory: whether a default still belongs there. A file of the sandbox's own
// needs one of the host to lie on, and only the host's own /etc is known to have it.
bool still_wanted(const View& view, const View& grant) {
  return grant.source == "/etc" && (view.target == "/etc/passwd" || view.target == "/etc/group");
}

}  // namespace

// Below /usr/src are people's own sources, as in many container images.
bool is_system(std::string_view path) {
  if (base::strictly_below(path, "/usr/src")) return false;
  return base::at_or_below(path, "/etc") || base::at_or_below(path, "/boot") ||
         base::in_system_directory(path);
}

Result<void> check_root(const std::string& source, std::span<const std::string> own) {
  const auto normal = base::normalise(source);
  if (!normal || *normal != source) {
    return bad("the root \"" + source +
               "\" is not an absolute path without \"..\": write it as one");
  }
  if (source == "/") {
    return bad(
        "the host's own root cannot be that of a program: leave the root out, and it sees the "
        "system's directories");
  }
  if (const auto ours = own_directory_of(source, own); !ours.empty()) {
    return bad("the root " + source + " is in " + std::string(ours) +
               ", which is Cordon's own and never shown to a sandbox: choose another");
  }
  for (const std::string_view top : kReserved) {
    if (!base::at_or_below(source, top)) continue;
    return bad("the root " + source + " is in " + std::string(top) +
               ", which is never the host's inside a sandbox: choose another");
  }
  return {};
}

std::string_view own_directory_of(std::string_view path, std::span<const std::string> own) {
  if (base::at_or_below(path, kRuntimeDirectory)) return kRuntimeDirectory;
  const auto it = std::ranges::find_if(
      own, [&](const std::string& ours) { return base::at_or_below(path, ours); });
  return it == own.end() ? std::string_view() : std::string_view(*it);
}

std::vector<View> masks_over(const std::string& source, const std::string& target,
                             std::span<const std::string> own) {
  std::vector<View> masks;
  if (base::strictly_below(kRuntimeDirectory, source)) {
    masks.push_back(mask_of(source, target, kRuntimeDirectory));
  }
  for (const std::string& ours : own) {
    if (base::strictly_below(ours, source)) masks.push_back(mask_of(source, target, ours));
  }
  return masks;
}

Result<std::vector<View>> granted_views(const Request& request, std::span<const std::string> own) {
  std::vector<Grant> grants;
  std::vector<View> views;
  for (const Grant& asked : request.grants) {
    auto grant = checked(asked, own);
    if (!grant) return std::unexpected(grant.error());
    const auto same = std::ranges::find(grants, grant->target, &Grant::target);
    if (same == grants.end()) {
      views.push_back(view_of(*grant));
      if (grant->kind != Grant::Kind::tmpfs) {
        for (View& mask : masks_over(grant->source, grant->target, own)) {
          if (find_target(views, mask.target) == nullptr) views.push_back(std::move(mask));
        }
      }
      grants.push_back(std::move(*grant));
    } else if (*same != *grant) {
      return bad("two grants for " + grant->target + ": " + name_of(*same) + " and " +
                 name_of(*grant) + ": keep one of them");
    }
  }
  return views;
}

std::vector<View> merge_views(std::vector<View> defaults, std::vector<View> granted) {
  if (std::ranges::any_of(
          granted, [](const View& g) { return base::strictly_below(g.target, "/var/tmp"); })) {
    // Else the grant would have to be mounted through a symlink.
    const View tmp = *find_target(defaults, "/tmp");
    const auto var_tmp = std::ranges::find(defaults, "/var/tmp", &View::target);
    if (var_tmp != defaults.end() && var_tmp->kind == Kind::symlink) {
      *var_tmp = tmp;
      var_tmp->target = "/var/tmp";
    }
  }
  std::erase_if(defaults, [&](const View& view) {
    return std::ranges::any_of(granted, [&](const View& grant) {
      return view.target == grant.target ||
             (base::strictly_below(view.target, grant.target) && !still_wanted(view, grant));
    });
  });
  std::ranges::sort(granted, base::mounted_before, &View::target);
  // The system's directories first, then what was asked for; but a grant of /etc goes below the
  // defaults that lie in it.
  std::vector<View> all;
  std::vector<View> rest;
  for (View& grant : granted) {
    const bool below = std::ranges::any_of(defaults, [&](const View& view) {
      return base::strictly_below(view.target, grant.target);
    });
    (below ? all : rest).push_back(std::move(grant));
  }
  std::ranges::move(defaults, std::back_inserter(all));
  std::ranges::move(rest, std::back_inserter(all));
  return all;
}

}  // namespace cordon::plan
