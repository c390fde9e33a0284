#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256_blocks.h"

namespace cordon::base {
namespace {

std::uint32_t big_endian(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
         static_cast<std::uint32_t>(bytes[2]) << 8 | static_cast<std::uint32_t>(bytes[3]);
}

}  // namespace

void sha256_blocks_portable(Sha256State& state, const std::uint8_t* data, std::size_t blocks) {
  for (; blocks > 0; --blocks, data += kSha256Block) {
    std::array<std::uint32_t, 64> words{};
    for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian(data + 4 * i);
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t early = words[i - 15];
      const std::uint32_t late = words[i - 2];
      words[i] = words[i - 16] + words[i - 7] +
                 (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                 (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                ((e & f) ^ (~e & g)) + kSha256Rounds[i] + words[i];
      const std::uint32_t two =
          (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + one;
      d = c;
      c = b;
      b = a;
      a = one + two;
    }
    const Sha256State mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += mixed[i];
  }
}

void Sha256::take(const std::uint8_t* data, std::size_t blocks) {
  if (has_sha256_instructions()) {
    sha256_blocks_by_instructions(state_, data, blocks);
  } else {
    sha256_blocks_portable(state_, data, blocks);
  }
}

void Sha256::add(std::string_view data) {
  std::size_t held = size_ % kBlock;
  size_ += data.size();
  while (!data.empty()) {
    if (const std::size_t whole = data.size() / kBlock; held == 0 && whole > 0) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as bytes
      take(reinterpret_cast<const std::uint8_t*>(data.data()), whole);
      data.remove_prefix(whole * kBlock);
      continue;
    }
    const std::size_t part = std::min(kBlock - held, data.size());
    std::memcpy(pending_.data() + held, data.data(), part);
    data.remove_prefix(part);
    held = (held + part) % kBlock;
    if (held == 0) take(pending_.data(), 1);
  }
}

Digest Sha256::finish() {
  const std::uint64_t bits = size_ * 8;
  std::array<char, kBlock> padding{'\x80'};
  const std::size_t held = size_ % kBlock;
  add({padding.data(), (held < kBlock - 8 ? kBlock - 8 : 2 * kBlock - 8) - held});
  std::array<char, 8> length{};
  for (std::size_t i = 0; i < length.size(); ++i) {
    length[i] = static_cast<char>(bits >> (8 * (length.size() - 1 - i)) & 0xff);
  }
  add({length.data(), length.size()});
  Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

Digest sha256(std::string_view data) {
  Sha256 all;
  all.add(data);
  return all.finish();
}

std::array<Digest, 2> sha256_of_two(std::string_view one, std::string_view other) {
  Sha256 first;
  Sha256 second;
  if (has_sha256_instructions() && one.size() == other.size()) {
    const std::size_t blocks = one.size() / kSha256Block;
    std::array<Sha256State, 2> states = {first.state_, second.state_};
    // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast): bytes as bytes
    sha256_two_by_instructions(states,
                               {reinterpret_cast<const std::uint8_t*>(one.data()),
                                reinterpret_cast<const std::uint8_t*>(other.data())},
                               blocks);
    // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
    first.state_ = states[0];
    second.state_ = states[1];
    first.size_ = second.size_ = blocks * kSha256Block;
    one.remove_prefix(first.size_);
    other.remove_prefix(second.size_);
  }
  first.add(one);
  second.add(other);
  return {first.finish(), second.finish()};
}

Digest hmac_sha256(std::string_view key, std::string_view data) {
  std::string padded(key);
  if (padded.size() > 64) {
    const Digest shorter = sha256(key);
    padded.assign(shorter.begin(), shorter.end());
  }
  padded.resize(64, '\0');
  const auto masked = [&](char mask) {
    std::string text = padded;
    for (char& byte : text) byte = static_cast<char>(byte ^ mask);
    return text;
  };
  Sha256 inner;
  inner.add(masked(0x36));
  inner.add(data);
  const Digest within = inner.finish();
  Sha256 outer;
  outer.add(masked(0x5c));
  outer.add(std::string(within.begin(), within.end()));
  return outer.finish();
}

std::string to_hex(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace cordon::base
