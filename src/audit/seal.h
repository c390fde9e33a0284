// The seal of a record: SHA-256, or HMAC-SHA-256 for who has a key.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "cordon/error.h"

namespace cordon::audit {

inline constexpr std::size_t kSealDigits = 64;

class Sealer {
 public:
  Sealer() = default;  // plain hashes
  explicit Sealer(std::string key) : key_(std::move(key)) {}

  // `path` empty: plain hashes. Errors: not_permitted (others may read or change the file),
  // invalid_argument (too short or too long to be a key), not_found.
  [[nodiscard]] static Result<Sealer> from_file(const std::string& path);

  [[nodiscard]] bool keyed() const { return !key_.empty(); }
  [[nodiscard]] std::string_view field() const { return keyed() ? "hmac" : "hash"; }
  [[nodiscard]] std::string seal(std::string_view text) const;

 private:
  std::string key_;
};

// Before the first record.
[[nodiscard]] std::string no_seal();
[[nodiscard]] bool is_seal(std::string_view text);

}  // namespace cordon::audit
