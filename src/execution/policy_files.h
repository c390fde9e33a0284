// Policies and manifests, from files.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cordon/error.h"
#include "policy/manifest.h"
#include "policy/policy.h"

namespace cordon::execution {

// A ceiling for everybody, when it exists.
inline constexpr std::string_view kSitePolicy = "/etc/cordon/policy.toml";

// The site's policy, if there is one, then `files`: together they hold. Each has to be a regular
// file of at most 1M that only root and the caller can change or replace. Errors: invalid_argument
// (a file is wrong or cannot be trusted), not_found, not_permitted.
[[nodiscard]] Result<policy::Policy> load_policy(std::span<const std::string> files,
                                                 const std::string& profile,
                                                 std::string_view site = kSitePolicy);

struct LoadedManifest {
  policy::Manifest manifest{};
  std::string bundle{};  // its directory, links resolved
};

// Anybody may have written it: it only asks. What it names inside its directory has to be there,
// without symbolic links. Errors: as above.
[[nodiscard]] Result<LoadedManifest> load_manifest(const std::string& file);

// The caller's, from the user database: $HOME is the caller's to choose. Empty: none.
[[nodiscard]] std::string home_directory();

}  // namespace cordon::execution
