// What the command line says about secrets.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cordon/secret.h"
#include "secrets/source.h"

namespace cordon::app {

struct SecretAsk {
  std::string name;
  std::optional<secrets::Source> source;     // none: where the policy says
  std::optional<Secret::Delivery> delivery;  // none: as the policy says, or env
};

struct SecretOptions {
  std::vector<SecretAsk> asks;
  std::optional<bool> redact;  // none: captured output only
};

}  // namespace cordon::app
