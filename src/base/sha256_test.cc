#include "base/sha256.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/sha256_blocks.h"

namespace cordon::base {
namespace {

// The vectors of FIPS 180-4 and RFC 4231.
TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, IsTheSameInPartsOfAnySize) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  const std::string whole = to_hex(sha256(text));
  for (std::size_t part = 1; part <= 130; ++part) {
    Sha256 parts;
    for (std::size_t at = 0; at < text.size(); at += part) {
      parts.add(std::string_view(text).substr(at, part));
    }
    EXPECT_EQ(to_hex(parts.finish()), whole) << part;
  }
}

TEST(Sha256, OfTwoIsThatOfEach) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += static_cast<char>(i * 11);
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 128U, 200U, 300U}) {
    const std::string_view one = std::string_view(text).substr(0, size);
    const std::string_view other = std::string_view(text).substr(300, size);
    const auto both = sha256_of_two(one, other);
    EXPECT_EQ(to_hex(both[0]), to_hex(sha256(one))) << size;
    EXPECT_EQ(to_hex(both[1]), to_hex(sha256(other))) << size;
  }
  const auto unequal = sha256_of_two("abc", text);
  EXPECT_EQ(to_hex(unequal[0]), to_hex(sha256("abc")));
  EXPECT_EQ(to_hex(unequal[1]), to_hex(sha256(text)));
}

// Whichever of the two this processor uses, the other one is tested, too.
TEST(Sha256, InstructionsAndPortableCodeAgree) {
  if (!has_sha256_instructions()) GTEST_SKIP() << "this processor has no such instructions";
  std::vector<std::uint8_t> data(kSha256Block * 5);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 31 + 7);
  Sha256State one = {1, 2, 3, 4, 5, 6, 7, 8};
  Sha256State other = one;
  for (std::size_t blocks = 0; blocks <= 5; ++blocks) {
    sha256_blocks_portable(one, data.data(), blocks);
    sha256_blocks_by_instructions(other, data.data(), blocks);
    EXPECT_EQ(one, other) << blocks;
  }
}

TEST(Sha256, InstructionsTakeTwoAtOnce) {
  if (!has_sha256_instructions()) GTEST_SKIP() << "this processor has no such instructions";
  std::vector<std::uint8_t> data(kSha256Block * 10);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 37 + 5);
  const std::uint8_t* const second = data.data() + 5 * kSha256Block;
  for (std::size_t blocks = 0; blocks <= 5; ++blocks) {
    std::array<Sha256State, 2> alone = {{{1, 2, 3, 4, 5, 6, 7, 8}, {8, 7, 6, 5, 4, 3, 2, 1}}};
    std::array<Sha256State, 2> both = alone;
    sha256_blocks_portable(alone[0], data.data(), blocks);
    sha256_blocks_portable(alone[1], second, blocks);
    sha256_two_by_instructions(both, {data.data(), second}, blocks);
    EXPECT_EQ(both, alone) << blocks;
  }
}

TEST(HmacSha256, GivesThePublishedDigests) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

}  // namespace
}  // namespace cordon::base
