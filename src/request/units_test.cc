#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "cordon/request.h"

namespace cordon {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr std::uint64_t kKibi = 1024;

TEST(ParseSizeTest, UnderstandsEveryUnit) {
  const std::pair<const char*, std::uint64_t> expected[] = {
      {"0", 0},
      {"4096", 4096},
      {"12B", 12},
      {"64K", 64 * kKibi},
      {"64M", 64 * kKibi * kKibi},
      {"1G", kKibi * kKibi * kKibi},
      {"2T", 2 * kKibi * kKibi * kKibi * kKibi},
      {"1.5M", 3 * kKibi * kKibi / 2},
      {"0.5K", 512},
      {"007K", 7 * kKibi},
      {"8191T", 8191 * kKibi * kKibi * kKibi * kKibi},
      {"9007199254740991", 9007199254740991},
  };
  for (const auto& [text, bytes] : expected) {
    const auto parsed = parse_size(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseSizeTest, RefusesWhatIsNotASize) {
  for (const char* text :
       {"",         " ",    "  5M", "5M ",    "5 M", "-5",  "-5M",  "-0",   "+5",  "M",
        "five",     "5k",   "5MB",  "5MiB",   "5X",  "1e3", "1E3K", "0x10", "nan", "inf",
        "infinity", "nanK", "1,5M", "1.5.2M", ".",   "-",   "5%",   "5s"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << "\"" << text << "\" became " << *parsed;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(parsed.error().message, HasSubstr("\"" + std::string(text) + "\""));
    EXPECT_THAT(parsed.error().message, HasSubstr("like 64M")) << "says what to write instead";
  }
}

TEST(ParseSizeTest, RefusesPartsOfAByte) {
  for (const char* text : {"0.5", "1.1K", "0.0001M", "1.5B"}) {
    const auto parsed = parse_size(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, HasSubstr("whole number"));
  }
}

TEST(ParseSizeTest, RefusesWhatItCouldNotHoldExactly) {
  for (const std::string& text :
       {std::string("8192T"), std::string("9007199254740992"), std::string("9007199254740993"),
        std::string("18446744073709551616"), std::string("99999999999T"), std::string(400, '9')}) {
    EXPECT_FALSE(parse_size(text)) << text;
  }
}

TEST(ParseSizeTest, RefusesAnEmbeddedNul) { EXPECT_FALSE(parse_size(std::string_view("5\0M", 3))); }

TEST(ParseDurationTest, UnderstandsEveryUnit) {
  const std::pair<const char*, Duration> expected[] = {
      {"0s", 0s},      {"7ns", 7ns},   {"7us", 7us},       {"250ms", 250ms},
      {"5s", 5s},      {"2m", 2min},   {"1h", 1h},         {"1.5s", 1500ms},
      {"0.5h", 30min}, {".5s", 500ms}, {"36500h", 36500h}, {"876000h", 876000h},
  };
  for (const auto& [text, duration] : expected) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text << ": " << parsed.error().message;
    EXPECT_EQ(*parsed, duration) << text;
  }
}

TEST(ParseDurationTest, FractionsAreNotOffByANanosecond) {
  for (int milliseconds = 1; milliseconds < 3000; ++milliseconds) {
    char text[16];
    (void)std::snprintf(text, sizeof text, "%d.%03ds", milliseconds / 1000, milliseconds % 1000);
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    ASSERT_EQ(*parsed, std::chrono::milliseconds(milliseconds)) << text;
  }
}

TEST(ParseDurationTest, RefusesDurationWithoutUnit) {
  for (const char* text : {"5", "0", "1.5"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(parsed.error().message, HasSubstr("its unit"));
  }
}

TEST(ParseDurationTest, RefusesWhatIsNotADuration) {
  for (const char* text : {"",   " ",     "  5s", "5s ",  "5 s",  "-5s",   "-0s",  "+5s",
                           "s",  "fives", "1e3s", "0x5s", "nan",  "nans",  "inf",  "infs",
                           "5S", "5sec",  "5d",   "5M",   "1,5s", "1h30m", "5s5s", "--5s"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << "\"" << text << "\" became " << parsed->count() << " ns";
    EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(parsed.error().message, HasSubstr("\"" + std::string(text) + "\""));
  }
}

TEST(ParseDurationTest, RefusesMoreThanACentury) {
  for (const std::string& text :
       {std::string("876001h"), std::string("99999999999h"), std::string("9223372036854775808ns"),
        std::string(400, '9') + "s"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
  EXPECT_THAT(parse_duration("876001h").error().message, HasSubstr("100 years"));
}

}  // namespace
}  // namespace cordon
