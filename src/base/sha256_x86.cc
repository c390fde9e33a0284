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

[[gnu::target("sha,sse4.1")]] void sha256_blocks_by_instructions(Sha256State& state,
                                                                 const std::uint8_t* data,
                                                                 std::size_t blocks) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  // The instructions want the eight words as ABEF and CDGH.
  __m128i low = _mm_shuffle_epi32(load(state.data()), 0xb1);
  __m128i cdgh = _mm_shuffle_epi32(load(state.data() + 4), 0x1b);
  __m128i abef = _mm_alignr_epi8(low, cdgh, 8);
  cdgh = _mm_blend_epi16(cdgh, low, 0xf0);

  for (; blocks > 0; --blocks, data += kSha256Block) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i words[4];
    for (std::size_t i = 0; i < 4; ++i) {
      words[i] = _mm_shuffle_epi8(load(data + 16 * i), big_endian);
    }
    for (std::size_t i = 0; i < 16; ++i) {  // four rounds each
      __m128i& now = words[i % 4];
      const __m128i& last = words[(i + 3) % 4];
      __m128i sum = _mm_add_epi32(now, load(kSha256Rounds.data() + 4 * i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      sum = _mm_shuffle_epi32(sum, 0x0e);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, sum);
      // The words that are due sixteen rounds later.
      now = _mm_add_epi32(_mm_sha256msg1_epu32(now, words[(i + 1) % 4]),
                          _mm_alignr_epi8(last, words[(i + 2) % 4], 4));
      now = _mm_sha256msg2_epu32(now, last);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }

  low = _mm_shuffle_epi32(abef, 0x1b);
  cdgh = _mm_shuffle_epi32(cdgh, 0xb1);
  store(state.data(), _mm_blend_epi16(low, cdgh, 0xf0));
  store(state.data() + 4, _mm_alignr_epi8(cdgh, low, 8));
}

}  // namespace cordon::base
