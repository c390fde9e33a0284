// From --secret to a request that has the secrets, and output that has none.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cordon/error.h"
#include "cordon/request.h"
#include "output.h"
#include "secret_options.h"
#include "secrets/source.h"

namespace cordon::app {

// Where the policy in force says that the secret of this name comes from, and how it is delivered.
using PolicySecrets = std::function<std::optional<secrets::Ask>(const std::string& name)>;
// There is none.
[[nodiscard]] std::optional<secrets::Ask> no_policy(const std::string& name);

// Reads the values into `request`. From then on this process is not dumpable. Call it while this is
// the only thread: see secrets::load(). Errors name secret and source, never a value.
[[nodiscard]] Result<void> load_secrets(const SecretOptions& options, const PolicySecrets& policy,
                                        Request& request);
// The same for a plan: nothing is read, something else stands in for the values.
[[nodiscard]] Result<void> plan_secrets(const SecretOptions& options, const PolicySecrets& policy,
                                        Request& request);

// Whether output goes without secrets.
[[nodiscard]] bool redacts(const SecretOptions& options, bool captured);
// What is to be taken out of it; null: nothing. Says so on stderr if a secret is too short for it.
[[nodiscard]] Result<Redacted> redacted_values(const SecretOptions& options, bool captured,
                                               std::span<const Secret> secrets);

}  // namespace cordon::app
