#include "secrets/patterns.h"

#include <utility>

namespace cordon::secrets {
namespace {

std::vector<std::uint32_t> fallbacks_of(std::string_view bytes) {
  std::vector<std::uint32_t> fallback(bytes.size() + 1, 0);
  std::uint32_t matched = 0;
  for (std::size_t i = 1; i < bytes.size(); ++i) {
    while (matched > 0 && bytes[i] != bytes[matched]) matched = fallback[matched];
    if (bytes[i] == bytes[matched]) ++matched;
    fallback[i + 1] = matched;
  }
  return fallback;
}

}  // namespace

void SecretPatterns::add(const Forms& forms, std::uint32_t secret) {
  for (const std::string_view bytes : forms.all()) {
    const auto first = static_cast<std::uint8_t>(bytes[0]);
    const auto second = static_cast<std::uint8_t>(bytes[1]);
    by_first_[first].push_back(static_cast<std::uint32_t>(patterns_.size()));
    pairs_.set(std::size_t{first} << 8U | second);
    patterns_.push_back({.bytes = bytes, .fallback = fallbacks_of(bytes), .secret = secret});
  }
}

Result<std::shared_ptr<const SecretPatterns>> SecretPatterns::make(
    std::span<const Secret> secrets) {
  auto made = std::make_shared<SecretPatterns>();
  for (const Secret& secret : secrets) {
    if (secret.value.size() < kShortestRedacted) {
      made->too_short_.push_back(secret.name);
      continue;
    }
    auto forms = Forms::of(secret.value.reveal());
    if (!forms) return std::unexpected(std::move(forms.error()));
    made->forms_.push_back(std::move(*forms));
    made->add(made->forms_.back(), static_cast<std::uint32_t>(made->markers_.size()));
    made->markers_.push_back("[redacted " + secret.name + "]");
  }
  return made;
}

}  // namespace cordon::secrets
