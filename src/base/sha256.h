// SHA-256 (FIPS 180-4): digests of files, policies and audit records. No dependency does this for
// us that is worth linking into every program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace cordon::base {

using Digest = std::array<std::uint8_t, 32>;

// Of data that comes in parts. A value: copy it to go on from the same point twice.
class Sha256 {
 public:
  void add(std::string_view data);
  // Ends the computation: call it once.
  [[nodiscard]] Digest finish();

 private:
  friend std::array<Digest, 2> sha256_of_two(std::string_view one, std::string_view other);
  static constexpr std::size_t kBlock = 64;

  void take(const std::uint8_t* data, std::size_t blocks);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, kBlock> pending_{};
  std::uint64_t size_ = 0;
};

[[nodiscard]] Digest sha256(std::string_view data);
// Of two that are equally long, in little more than the time of one.
[[nodiscard]] std::array<Digest, 2> sha256_of_two(std::string_view one, std::string_view other);

// Keyed, by RFC 2104.
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view data);

// 64 digits in lower case.
[[nodiscard]] std::string to_hex(const Digest& digest);

}  // namespace cordon::base
