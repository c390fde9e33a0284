#include "request/validate_secrets.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/errors.h"
#include "base/printable.h"

namespace cordon::request {
namespace {

std::unexpected<Error> bad(std::string message) {
  return base::fail(ErrorCode::invalid_argument, "validate", std::move(message));
}

Result<void> validate_one(const Secret& secret) {
  // Not what follows a '=': it may be the value (C65).
  if (!valid_secret_name(secret.name)) {
    return bad("secret name \"" +
               base::printable(std::string_view(secret.name).substr(0, secret.name.find('='))) +
               "\" is not valid: it must be letters, digits and _, not beginning with a digit");
  }
  const std::string_view value = secret.value.reveal();
  if (value.empty()) return bad("secret " + secret.name + " is empty: give it a value");
  if (value.size() > kMostSecretBytes) {
    return bad("secret " + secret.name + " has more than " + std::to_string(kMostSecretBytes) +
               " bytes: deliver a key instead");
  }
  if (secret.delivery == Secret::Delivery::env && value.find('\0') != std::string_view::npos) {
    return bad("secret " + secret.name +
               " contains a NUL byte, which no variable can: deliver it by fd or file");
  }
  return {};
}

}  // namespace

Result<void> validate_secrets(const Request& request) {
  if (request.secrets.size() > kMostSecrets) {
    return bad("there are more than " + std::to_string(kMostSecrets) + " secrets: leave some out");
  }
  std::vector<std::string> names;
  std::vector<std::string> variables;
  for (const Secret& secret : request.secrets) {
    if (auto ok = validate_one(secret); !ok) return ok;
    if (std::ranges::find(names, secret.name) != names.end()) {
      return bad("secret " + secret.name + " is there twice: keep one of them");
    }
    names.push_back(secret.name);
    std::string variable = secret.variable();
    if (std::ranges::find(request.env, variable, &EnvVar::name) != request.env.end() ||
        std::ranges::find(variables, variable) != variables.end()) {
      return bad("secret " + secret.name + " sets the variable " + variable +
                 ", which is set otherwise, too: rename one of them");
    }
    variables.push_back(std::move(variable));
  }
  return {};
}

}  // namespace cordon::request
