// The options that say whether a pool is used, and for whom.
#include <array>
#include <cstdlib>
#include <utility>

#include "concat.h"
#include "option_values.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

Result<void> apply_pool(RunOptions& options, const std::string& value) {
  if (value == "auto") {
    options.pool = PoolUse::automatic;
  } else if (value == "off") {
    options.pool = PoolUse::off;
  } else if (value == "only") {
    options.pool = PoolUse::only;
  } else {
    return bad_value(value, "is no use of a pool: there are auto, off and only");
  }
  return {};
}

Result<void> apply_reuse(RunOptions& options, const std::string& value) {
  auto tenant = Tenant::named(value);
  if (!tenant) return std::unexpected(std::move(tenant).error());
  options.request.reuse = *std::move(tenant);
  return {};
}

constexpr auto kTable = std::to_array<RunOption>({
    {"Surroundings",
     {"--pool", "WHEN",
      "auto: run through your pool if there is one and it can\n"
      "run this, off or only; see 'cordon pool --help'\n"
      "(default $CORDON_POOL or auto)"},
     apply_pool},
    {"Surroundings",
     {"--reuse", "TENANT",
      "let runs of TENANT in your pool use the control groups\n"
      "and the network of earlier ones again, once nothing is\n"
      "left in them (default: each run has its own)"},
     apply_reuse},
});

}  // namespace

std::span<const RunOption> pool_options() { return kTable; }

Result<void> apply_pool_variable(RunOptions& options) {
  const char* const value = std::getenv("CORDON_POOL");
  if (value == nullptr || *value == '\0') return {};
  auto applied = apply_pool(options, value);
  if (!applied) applied.error().message = concat("CORDON_POOL: ", applied.error().message);
  return applied;
}

}  // namespace cordon::app
