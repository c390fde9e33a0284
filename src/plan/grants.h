// The file system that a request asks for: its grants, checked, and its working directory, put
// together with the default view. Pure: paths are compared as text.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/sandbox_plan.h"

namespace cordon::plan {

// The request's grants as views, in the order of the request; equal ones once. Errors
// (invalid_argument): a path that is relative or has "..", two grants for one place, the host's
// root, /proc, /sys or /dev, a writable system directory.
//
// Directories of Cordon's own (kRuntimeDirectory and `own`) are refused as grants, and hidden where
// a grant of something above them would show them.
[[nodiscard]] Result<std::vector<View>> granted_views(const Request& request,
                                                      std::span<const std::string> own = {});

// What hides Cordon's own directories where a view of `source` at `target` would show them.
[[nodiscard]] std::vector<View> masks_over(const std::string& source, const std::string& target,
                                           std::span<const std::string> own);
// The one of Cordon's own directories that `path` is at or below; empty: none.
[[nodiscard]] std::string_view own_directory_of(std::string_view path,
                                                std::span<const std::string> own);

// Where the program starts, as a path inside. Adds a view of that directory, read-only, to
// `granted` unless a grant or `defaults` already show it. Errors (invalid_argument): it is /, the
// home directory or above that, or a place that the sandbox makes itself.
[[nodiscard]] Result<std::string> place_cwd(const Request& request, const Caller& caller,
                                            const std::vector<View>& defaults,
                                            std::vector<View>& granted);

// The same for a request with a root of its own, in which it is a path: nothing is added.
[[nodiscard]] Result<std::string> cwd_in_root(const Request& request);

// Whether a directory of the host may be a root: it is a grant to read all of it. Errors
// (invalid_argument): those of a grant.
[[nodiscard]] Result<void> check_root(const std::string& source, std::span<const std::string> own);
// Whether this is a directory of the host's system, whose files keep their owners inside.
[[nodiscard]] bool is_system(std::string_view path);

// Both, in the order of mounting: a directory before what is in it, so that the innermost wins.
// A grant replaces what the default view has at its place.
[[nodiscard]] std::vector<View> merge_views(std::vector<View> defaults, std::vector<View> granted);

// The request's pins as views on top of `root`, each once; one that `root` does not show is left
// out. Error (invalid_argument): `root` shows another file there.
[[nodiscard]] Result<std::vector<View>> pinned_views(const Request& request,
                                                     const std::vector<View>& root);

}  // namespace cordon::plan
