#include <array>
#include <string>
#include <utility>

#include "base/errors.h"
#include "base/printable.h"
#include "concat.h"
#include "run_option_parts.h"

namespace cordon::app {
namespace {

// Names the secret and nothing behind its "=": somebody may have written the value there.
std::unexpected<Error> bad_secret(std::string_view name, std::string_view why) {
  return base::fail(ErrorCode::invalid_argument, "usage",
                    concat("\"", base::printable(name), "\" ", why));
}

// NAME[=SOURCE][,as=env|fd|file]. Only the last ",as=" counts, so that paths may have commas.
Result<void> apply_secret(RunOptions& options, const std::string& value) {
  constexpr std::string_view kAs = ",as=";
  std::string_view rest = value;
  const std::size_t equals = rest.find('=');
  const std::size_t as = rest.rfind(kAs);
  const std::string_view name = rest.substr(0, std::min(equals, as));

  SecretAsk ask;
  ask.name = std::string(name);
  if (!valid_secret_name(name)) {
    return bad_secret(name,
                      "is not the name of a secret: it must be letters, digits and _, not "
                      "beginning with a digit");
  }
  if (as != std::string_view::npos) {
    auto delivery = secrets::parse_delivery(rest.substr(as + kAs.size()));
    if (!delivery) return bad_secret(name, delivery.error().message);
    ask.delivery = *delivery;
    rest = rest.substr(0, as);
  }
  if (rest.size() > name.size()) {
    auto source = secrets::parse_source(rest.substr(name.size() + 1));
    if (!source) return bad_secret(name, source.error().message);
    ask.source = *std::move(source);
  }
  options.secrets.asks.push_back(std::move(ask));
  return {};
}

Result<void> apply_redact(RunOptions& options, const std::string& /*value*/) {
  options.secrets.redact = true;
  return {};
}

Result<void> apply_no_redact(RunOptions& options, const std::string& /*value*/) {
  options.secrets.redact = false;
  return {};
}

constexpr std::string_view kSecrets = "Secrets";

constexpr auto kTable = std::to_array<RunOption>({
    {kSecrets,
     {"--secret", "NAME=SOURCE[,as=env|fd|file]",
      "give the program a secret from file:PATH, env:NAME, fd:N\n"
      "or command:PROGRAM ARG…; as the variable NAME (env), a\n"
      "descriptor that NAME_FD numbers, or a file that NAME_FILE\n"
      "names; without =SOURCE the policy's; repeatable"},
     apply_secret},
    {kSecrets,
     {"--redact", "",
      "put [redacted NAME] in place of secrets in all output;\n"
      "captured output (--json) is redacted anyway"},
     apply_redact},
    {kSecrets, {"--no-redact", "", "leave captured output as it is"}, apply_no_redact},
});

}  // namespace

std::span<const RunOption> secret_options() { return kTable; }

}  // namespace cordon::app
