#include "secret_loading.h"

#include <sys/prctl.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "concat.h"
#include "message.h"
#include "secrets/load.h"

namespace cordon::app {
namespace {

Result<std::vector<secrets::Ask>> resolve(const SecretOptions& options,
                                          const PolicySecrets& policy) {
  std::vector<secrets::Ask> asks;
  for (const SecretAsk& asked : options.asks) {
    std::optional<secrets::Ask> ask = policy(asked.name);
    if (ask && asked.delivery && *asked.delivery != ask->delivery) {
      return base::fail(
          ErrorCode::not_permitted, "secret",
          concat("--secret ", asked.name, ": the policy delivers it as ", to_string(ask->delivery),
                 ", not as ", to_string(*asked.delivery), ": leave as=… out, or change it there"));
    }
    if (!ask && asked.source) ask = {.name = asked.name, .source = *asked.source};
    if (!ask) {
      return base::fail(
          ErrorCode::invalid_argument, "secret",
          concat("no policy names a source for secret ", asked.name, ": write --secret ",
                 asked.name, "=SOURCE, or let the policy have a [secrets.", asked.name, "]"));
    }
    if (asked.delivery) ask->delivery = *asked.delivery;
    asks.push_back(*std::move(ask));
  }
  return asks;
}

}  // namespace

std::optional<secrets::Ask> no_policy(const std::string& /*name*/) { return std::nullopt; }

Result<void> load_secrets(const SecretOptions& options, const PolicySecrets& policy,
                          Request& request) {
  if (options.asks.empty()) return {};
  auto asks = resolve(options, policy);
  if (!asks) return std::unexpected(std::move(asks).error());
  // No core dump of ours, and no other process of the same user looks at our memory.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) {
    return base::fail_os("secret", errno, "cannot keep this process's memory from others");
  }
  auto loaded = secrets::load(*asks);
  if (!loaded) return std::unexpected(std::move(loaded).error());
  request.secrets = *std::move(loaded);
  return {};
}

Result<void> plan_secrets(const SecretOptions& options, const PolicySecrets& policy,
                          Request& request) {
  auto asks = resolve(options, policy);
  if (!asks) return std::unexpected(std::move(asks).error());
  for (secrets::Ask& ask : *asks) {
    auto stand_in = SecretValue::copy_of("?");
    if (!stand_in) return std::unexpected(std::move(stand_in).error());
    request.secrets.push_back(
        {.name = std::move(ask.name), .value = *std::move(stand_in), .delivery = ask.delivery});
  }
  return {};
}

bool redacts(const SecretOptions& options, bool captured) {
  return !options.asks.empty() && options.redact.value_or(captured);
}

Result<Redacted> redacted_values(const SecretOptions& options, bool captured,
                                 std::span<const Secret> secrets) {
  if (!redacts(options, captured)) return nullptr;
  auto made = secrets::SecretPatterns::make(secrets);
  if (!made) return made;
  for (const std::string& name : (*made)->too_short()) {
    complain(concat("secret ", name, " has less than ", std::to_string(secrets::kShortestRedacted),
                    " bytes and is not redacted"));
  }
  return made;
}

}  // namespace cordon::app
