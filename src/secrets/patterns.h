// What a Redactor looks for: the forms of all secrets, made ready for searching. Immutable: shared
// by the redactors of several streams, and threads.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cordon/error.h"
#include "cordon/secret.h"
#include "secrets/forms.h"

namespace cordon::secrets {

// A shorter secret would be found everywhere, and is not looked for.
inline constexpr std::size_t kShortestRedacted = 4;

struct Pattern {
  std::string_view bytes;
  // For each length that has matched: how much still matches when the next byte does not (Knuth,
  // Morris, Pratt).
  std::vector<std::uint32_t> fallback;
  std::uint32_t secret = 0;  // index into SecretPatterns::markers()
};

class SecretPatterns {
 public:
  // Error: resource_exhausted.
  [[nodiscard]] static Result<std::shared_ptr<const SecretPatterns>> make(
      std::span<const Secret> secrets);

  [[nodiscard]] const std::vector<Pattern>& all() const { return patterns_; }
  // "[redacted NAME]".
  [[nodiscard]] const std::vector<std::string>& markers() const { return markers_; }
  // Patterns that begin with this byte.
  [[nodiscard]] const std::vector<std::uint32_t>& beginning_with(std::uint8_t byte) const {
    return by_first_[byte];
  }
  // Whether a pattern begins with these two bytes.
  [[nodiscard]] bool may_begin(std::uint8_t first, std::uint8_t second) const {
    return pairs_[std::size_t{first} << 8U | second];
  }
  // Names of secrets that are too short to be looked for.
  [[nodiscard]] const std::vector<std::string>& too_short() const { return too_short_; }

 private:
  void add(const Forms& forms, std::uint32_t secret);

  std::vector<Forms> forms_;
  std::vector<Pattern> patterns_;
  std::vector<std::string> markers_;
  std::vector<std::string> too_short_;
  std::array<std::vector<std::uint32_t>, 256> by_first_;
  std::bitset<65536> pairs_;
};

}  // namespace cordon::secrets
