#include "backend/gvisor/image_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "backend/gvisor/image_digest.h"
#include "backend/gvisor/image_follower.h"
#include "base/fd.h"
#include "base/sha256.h"

namespace cordon::gvisor_backend {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ImageTest : public testing::Test {
 protected:
  ImageTest() {
    std::string name = (fs::temp_directory_path() / "cordon_image_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    write("checkpoint.img", "an image");
    EXPECT_TRUE(seal_image(root_.string(), {.sandbox_id = "box"}));
  }
  ~ImageTest() override { fs::remove_all(root_); }
  void write(const char* name, std::string_view text) const {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  [[nodiscard]] std::string refusal() const {
    const auto opened = OpenImage::open(root_.string());
    if (!opened) return opened.error().message;
    const auto verified = opened->verify();
    return verified ? "" : verified.error().message;
  }
  fs::path root_;
};

TEST_F(ImageTest, IsWhatWasSealed) {
  const auto opened = OpenImage::open(root_.string());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->manifest().sandbox_id, "box");
  ASSERT_EQ(opened->manifest().files.size(), 1U);
  EXPECT_EQ(opened->manifest().files[0].size, 8U);
  EXPECT_EQ(refusal(), "");
}

TEST_F(ImageTest, ChangedBytesAreRefused) {
  write("checkpoint.img", "an imagE");
  EXPECT_THAT(refusal(), HasSubstr("changed"));
}

TEST_F(ImageTest, TruncatedOneIsRefused) {
  write("checkpoint.img", "an ima");
  EXPECT_THAT(refusal(), HasSubstr("6 bytes instead of 8"));
}

TEST_F(ImageTest, MissingFileIsRefused) {
  fs::remove(root_ / "checkpoint.img");
  EXPECT_THAT(refusal(), HasSubstr("missing"));
}

TEST_F(ImageTest, LinkIsRefused) {
  fs::rename(root_ / "checkpoint.img", root_ / "elsewhere");
  fs::create_symlink("elsewhere", root_ / "checkpoint.img");
  EXPECT_NE(refusal(), "");
}

TEST_F(ImageTest, WhatIsShownIsWhatWasVerified) {
  const auto opened = OpenImage::open(root_.string());
  ASSERT_TRUE(opened) << opened.error().message;
  write("other", "an IMAGE");
  fs::rename(root_ / "other", root_ / "checkpoint.img");  // swapped, after it was opened
  EXPECT_TRUE(opened->verify());
  const fs::path shown = root_ / "shown";
  ASSERT_TRUE(opened->show(shown.string()));
  std::ifstream file(shown / "checkpoint.img");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "an image");
}

TEST_F(ImageTest, FollowedFileIsSealedAsIfItHadBeenReadAfterwards) {
  const fs::path place = root_ / "followed";
  fs::create_directory(place);
  ImageFollower follower(place.string(), "checkpoint.img");
  {
    std::ofstream file(place / "checkpoint.img", std::ios::binary);
    for (std::size_t i = 0; i < 5 * ImageDigest::kBlock; i += 1000) {
      file << std::string(1000, static_cast<char>('a' + i % 7)) << std::flush;
    }
  }
  const auto followed = follower.finish();
  ASSERT_TRUE(followed);
  EXPECT_EQ(followed->size, fs::file_size(place / "checkpoint.img"));
  ASSERT_TRUE(seal_image(place.string(), {.sandbox_id = "box"}, followed));
  const auto opened = OpenImage::open(place.string());
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->manifest().files[0], *followed);
  const auto verified = opened->verify();
  EXPECT_TRUE(verified) << verified.error().message;
}

// The assumption of the follower is looked at.
TEST_F(ImageTest, FileThatWasChangedAtItsBeginningIsNotFollowed) {
  const fs::path file = root_ / "rewritten";
  {
    std::ofstream(file) << std::string(4 * ImageDigest::kBlock, 'x');
  }
  ImageDigest digest;
  const base::Fd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(digest.read_on(open.get()), 0);
  EXPECT_TRUE(digest.begins_as_before(open.get()));
  {
    std::fstream(file, std::ios::in | std::ios::out) << "header";
  }
  EXPECT_FALSE(digest.begins_as_before(open.get()));
}

TEST_F(ImageTest, WhatIsNeverWrittenIsNotFollowed) {
  ImageFollower follower(root_.string(), "missing");
  EXPECT_FALSE(follower.finish());
}

TEST_F(ImageTest, DigestIsThatOfTheDigestsOfItsBlocks) {
  const std::string text = std::string(ImageDigest::kBlock, 'a') + "the rest";
  write("blocks", text);
  ImageDigest digest;
  const base::Fd open(::open((root_ / "blocks").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(digest.read_on(open.get()), 0);
  std::string digests;
  for (const std::string& block : {text.substr(0, ImageDigest::kBlock), std::string("the rest")}) {
    const base::Digest one = base::sha256(block);
    digests.append(one.begin(), one.end());
  }
  EXPECT_EQ(digest.finish(), base::to_hex(base::sha256(digests)));
}

TEST_F(ImageTest, DirectoryWithoutManifestIsNone) {
  fs::remove(root_ / "manifest.json");
  EXPECT_THAT(refusal(), HasSubstr("no manifest.json"));
}

TEST(ImageDigestTest, AWholeFileHasTheSameDigestHoweverItIsRead) {
  constexpr std::size_t kBlock = ImageDigest::kBlock;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kBlock - 1, kBlock, kBlock + 1,
                                 2 * kBlock, 2 * kBlock + 1, 9 * kBlock + 5, 20 * kBlock}) {
    const base::Fd file(::memfd_create("image", MFD_CLOEXEC));
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 31 / 7 + i / kBlock);
    ASSERT_EQ(::pwrite(file.get(), text.data(), size, 0), static_cast<ssize_t>(size));
    ImageDigest digest;
    ASSERT_EQ(digest.read_on(file.get()), 0);
    EXPECT_EQ(digest_whole(file.get(), size), digest.finish()) << size;
    EXPECT_EQ(digest_whole(file.get(), size + 1), std::nullopt) << size;
    if (size > 0) {
      EXPECT_EQ(digest_whole(file.get(), size - 1), std::nullopt) << size;
    }
  }
}

}  // namespace
}  // namespace cordon::gvisor_backend
