// SHA-256 by the SHA instructions of x86-64 processors: several times as fast.
#include <cpuid.h>
#include <immintrin.h>

#include "base/sha256_blocks.h"

namespace cordon::base {
namespace {

constexpr unsigned kShaBit = 1U << 29;    // leaf 7, EBX
constexpr unsigned kSse41Bit = 1U << 19;  // leaf 1, ECX; has SSSE3 in it

bool ask_processor() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSse41Bit) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kShaBit) != 0;
}

[[gnu::target("sha,sse4.1")]] __m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

[[gnu::target("sha,sse4.1")]] void store(void* to, __m128i value) {
  _mm_storeu_si128(static_cast<__m128i*>(to), value);
}

}  // namespace

bool has_sha256_instructions() {
  static const bool kHas = ask_processor();
  return kHas;
}

namespace {

// The state of one message, as the instructions want it: the eight words as ABEF and CDGH.
struct Lane {
  __m128i abef;
  __m128i cdgh;
  __m128i abef_before;
  __m128i cdgh_before;
  __m128i words[4];
};

[[gnu::target("sha,sse4.1")]] inline void begin(Lane& lane, const Sha256State& state) {
  const __m128i low = _mm_shuffle_epi32(load(state.data()), 0xb1);
  const __m128i high = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
  lane.abef = _mm_alignr_epi8(low, high, 8);
  lane.cdgh = _mm_blend_epi16(high, low, 0xf0);
}

[[gnu::target("sha,sse4.1")]] inline void end(const Lane& lane, Sha256State& state) {
  const __m128i low = _mm_shuffle_epi32(lane.abef, 0x1b);
  const __m128i high = _mm_shuffle_epi32(lane.cdgh, 0xb1);
  store(state.data(), _mm_blend_epi16(low, high, 0xf0));
  store(state.data() + 4, _mm_alignr_epi8(high, low, 8));
}

[[gnu::target("sha,sse4.1")]] inline void take(Lane& lane, const std::uint8_t* block) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  lane.abef_before = lane.abef;
  lane.cdgh_before = lane.cdgh;
  for (std::size_t i = 0; i < 4; ++i) {
    lane.words[i] = _mm_shuffle_epi8(load(block + 16 * i), big_endian);
  }
}

// Rounds 4 i to 4 i + 3.
[[gnu::target("sha,sse4.1")]] inline void rounds(Lane& lane, std::size_t i) {
  __m128i& now = lane.words[i % 4];
  const __m128i& last = lane.words[(i + 3) % 4];
  __m128i sum = _mm_add_epi32(now, load(kSha256Rounds.data() + 4 * i));
  lane.cdgh = _mm_sha256rnds2_epu32(lane.cdgh, lane.abef, sum);
  sum = _mm_shuffle_epi32(sum, 0x0e);
  lane.abef = _mm_sha256rnds2_epu32(lane.abef, lane.cdgh, sum);
  // The words that are due sixteen rounds later.
  now = _mm_add_epi32(_mm_sha256msg1_epu32(now, lane.words[(i + 1) % 4]),
                      _mm_alignr_epi8(last, lane.words[(i + 2) % 4], 4));
  now = _mm_sha256msg2_epu32(now, last);
}

[[gnu::target("sha,sse4.1")]] inline void add_up(Lane& lane) {
  lane.abef = _mm_add_epi32(lane.abef, lane.abef_before);
  lane.cdgh = _mm_add_epi32(lane.cdgh, lane.cdgh_before);
}

}  // namespace

[[gnu::target("sha,sse4.1")]] void sha256_blocks_by_instructions(Sha256State& state,
                                                                 const std::uint8_t* data,
                                                                 std::size_t blocks) {
  Lane lane;
  begin(lane, state);
  for (; blocks > 0; --blocks, data += kSha256Block) {
    take(lane, data);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) rounds(lane, i);
    add_up(lane);
  }
  end(lane, state);
}

// An instruction waits for the one before it, in its own message only.
[[gnu::target("sha,sse4.1")]] void sha256_two_by_instructions(
    std::array<Sha256State, 2>& states, const std::array<const std::uint8_t*, 2>& data,
    std::size_t blocks) {
  Lane one;
  Lane other;
  begin(one, states[0]);
  begin(other, states[1]);
  for (std::size_t at = 0; at < blocks * kSha256Block; at += kSha256Block) {
    take(one, data[0] + at);
    take(other, data[1] + at);
#pragma GCC unroll 16
    for (std::size_t i = 0; i < 16; ++i) {
      rounds(one, i);
      rounds(other, i);
    }
    add_up(one);
    add_up(other);
  }
  end(one, states[0]);
  end(other, states[1]);
}

}  // namespace cordon::base
