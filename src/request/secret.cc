#include "cordon/secret.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "base/locked_bytes.h"
#include "base/printable.h"

namespace cordon {
namespace {

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

}  // namespace

SecretValue::SecretValue(base::LockedBytes bytes) {
  bytes.make_read_only();
  bytes_ = std::make_shared<const base::LockedBytes>(std::move(bytes));
}

Result<SecretValue> SecretValue::copy_of(std::string_view bytes) {
  if (bytes.size() > kMostSecretBytes) {
    return base::fail(ErrorCode::invalid_argument, "secret",
                      "a secret has at most " + std::to_string(kMostSecretBytes) +
                          " bytes, this one has " + std::to_string(bytes.size()) +
                          ": deliver a key instead, and what it opens as a file");
  }
  auto copy = base::LockedBytes::copy_of(bytes);
  if (!copy) return std::unexpected(std::move(copy.error()));
  return SecretValue(std::move(*copy));
}

std::string_view SecretValue::reveal() const {
  return bytes_ ? bytes_->view() : std::string_view();
}

std::string Secret::variable() const {
  switch (delivery) {
    case Delivery::env:
      return name;
    case Delivery::fd:
      return name + "_FD";
    case Delivery::file:
      return name + "_FILE";
  }
  return name;
}

std::string Secret::path() const { return std::string(kSecretsDirectory) + "/" + name; }

bool valid_secret_name(std::string_view name) {
  constexpr std::size_t kLongest = 200;  // of a file's name, with room for _FILE
  return !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string secret_name_warning(std::string_view name) {
  if (valid_secret_name(name)) return {};
  constexpr std::size_t kShown = 80;
  return "secret \"" + base::printable(name.substr(0, kShown)) +
         "\" was skipped: its name is not made of letters, digits and _";
}

std::string_view to_string(Secret::Delivery delivery) {
  switch (delivery) {
    case Secret::Delivery::env:
      return "env";
    case Secret::Delivery::fd:
      return "fd";
    case Secret::Delivery::file:
      return "file";
  }
  return "unknown";
}

}  // namespace cordon
