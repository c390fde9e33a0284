#include "plan/secrets.h"

#include <algorithm>
#include <string>

#include "base/errors.h"
#include "base/paths.h"

namespace cordon::plan {
namespace {

using Kind = View::Kind;

// The same for every run, so that it tells nothing of them: whole pages for as much as there can
// be.
constexpr std::uint64_t kSize = kMostSecrets * (kMostSecretBytes + std::uint64_t{64} * 1024);

bool in_the_way(const View& view) {
  if (base::at_or_below(view.target, kSecretsDirectory)) return true;
  // In a fresh directory the place can be made; on the host it cannot.
  return view.kind == Kind::bind && base::at_or_below(kSecretsDirectory, view.target);
}

}  // namespace

Result<void> add_secrets(const Request& request, SandboxPlan& plan) {
  bool files = false;
  for (const Secret& secret : request.secrets) {
    plan.secrets.push_back(secret.name + " by " + std::string(to_string(secret.delivery)));
    files |= secret.delivery == Secret::Delivery::file;
  }
  if (!files) return {};
  const auto found = std::ranges::find_if(plan.root, in_the_way);
  if (found != plan.root.end()) {
    return base::fail(ErrorCode::invalid_argument, "plan",
                      "grant of " + found->target + ": secrets are delivered in " +
                          std::string(kSecretsDirectory) +
                          ": leave the grant out, or deliver them by env or fd");
  }
  plan.root.push_back({.kind = Kind::secrets,
                       .target = std::string(kSecretsDirectory),
                       .size = kSize,
                       .mode = 0700});
  return {};
}

}  // namespace cordon::plan
