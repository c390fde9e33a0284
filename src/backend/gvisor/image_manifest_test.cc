#include "backend/gvisor/image_manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace cordon::gvisor_backend {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Manifest example() {
  return {.sandbox_id = "work\"shop",
          .policy = "abc",
          .runsc = "1.0",
          .machine = "x86_64",
          .cpu = {"avx", "sse2"},
          .created = "2026-01-31T12:00:00Z",
          .files = {{"checkpoint.img", 7, "00ff"}}};
}

TEST(ImageManifest, ReadsWhatItWrote) {
  const auto read = parse_manifest(to_text(example()));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

TEST(ImageManifest, EveryPrefixOfItIsRefused) {
  std::string text = to_text(example());
  text.pop_back();
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_manifest(text.substr(0, size))) << size;
  }
}

TEST(ImageManifest, NamesAreNamesOfFilesInIt) {
  for (const char* name : {"../x", "a/b", "", ".", ".."}) {
    Manifest manifest = example();
    manifest.files[0].name = name;
    EXPECT_FALSE(parse_manifest(to_text(manifest))) << name;
  }
}

TEST(ImageManifest, AnotherFormatIsNamed) {
  std::string text = to_text(example());
  text.replace(text.find("image/2"), 7, "image/9");
  const auto read = parse_manifest(text);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, AllOf(HasSubstr("image/9"), HasSubstr("image/2")));
}

TEST(ImageManifest, FitsOnlyWhatItWasMadeFor) {
  const Manifest image = example();
  EXPECT_TRUE(check_fits(image, image));
  Manifest here = image;
  here.cpu.emplace_back("zmm");  // more is fine
  EXPECT_TRUE(check_fits(image, here));

  here = image;
  here.sandbox_id = "other";
  EXPECT_THAT(check_fits(image, here).error().message, HasSubstr("other"));
  here = image;
  here.policy = "changed";
  EXPECT_EQ(check_fits(image, here).error().code, ErrorCode::invalid_argument);
  here = image;
  here.runsc = "2.0";
  const auto newer = check_fits(image, here);
  EXPECT_EQ(newer.error().code, ErrorCode::unsupported);
  EXPECT_THAT(newer.error().message, AllOf(HasSubstr("1.0"), HasSubstr("2.0")));
  here = image;
  here.cpu = {"sse2"};
  EXPECT_THAT(check_fits(image, here).error().message, HasSubstr("avx"));
}

TEST(ImageManifest, KnowsThisHost) {
  const Manifest here = manifest_here("s", "p", "r");
  EXPECT_FALSE(here.cpu.empty());
  EXPECT_TRUE(std::ranges::is_sorted(here.cpu));
  EXPECT_FALSE(here.machine.empty());
  EXPECT_EQ(here.created.size(), 20U);
}

}  // namespace
}  // namespace cordon::gvisor_backend
