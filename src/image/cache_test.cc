#include "image/cache.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <thread>

#include "image/testing.h"

namespace cordon::image {
namespace {

using testing::archive;
using testing::file;
using testing::Layout;
namespace fs = std::filesystem;

class CacheTest : public ::testing::Test {
 protected:
  CacheTest() {
    Layout layout;
    for (int i = 0; i < 20; ++i) {
      layout.layer(archive({file("d/" + std::to_string(i), std::string(20000, 'x'))}), true);
    }
    layout.finish();
    layout.write(folder_.path() / "image");
    fs::create_directory(folder_.path() / "cache");
    fs::permissions(folder_.path() / "cache", fs::perms::owner_all);
  }
  [[nodiscard]] Image image() const {
    auto opened = open_image((folder_.path() / "image").string(), "");
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  [[nodiscard]] std::string cache() const { return (folder_.path() / "cache").string(); }
  [[nodiscard]] std::ptrdiff_t kept() const {
    return std::distance(fs::directory_iterator(cache() + "/images"), {});
  }

  testing::Folder folder_;
};

TEST_F(CacheTest, AnImageIsUnpackedOnce) {
  const auto first = unpack_into_cache(image(), cache());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(first->was_there);
  EXPECT_TRUE(fs::exists(first->root + "/d/19"));
  const auto second = unpack_into_cache(image(), cache());
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->was_there);
  EXPECT_EQ(first->root, second->root);
  EXPECT_EQ(kept(), 1);
}

TEST_F(CacheTest, TheCacheIsItsOwnersAlone) {
  ASSERT_TRUE(unpack_into_cache(image(), cache()));
  struct stat found{};
  ASSERT_EQ(::stat((cache() + "/images").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0700U);
}

TEST_F(CacheTest, SeveralAtOnceGetTheSame) {
  std::vector<std::thread> threads;
  std::vector<Result<UnpackedImage>> results(6);
  for (auto& result : results) {
    threads.emplace_back([&] { result = unpack_into_cache(image(), cache()); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) {
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_TRUE(fs::exists(result->root + "/d/19"));
  }
  EXPECT_EQ(kept(), 1);
}

TEST_F(CacheTest, NothingIsKeptOfWhatFails) {
  const auto failed = unpack_into_cache(image(), cache(), {.most_bytes = 100000});
  ASSERT_FALSE(failed);
  EXPECT_EQ(kept(), 0);
  EXPECT_TRUE(unpack_into_cache(image(), cache()));
}

TEST_F(CacheTest, LeftoversOfTheDeadAreRemoved) {
  ASSERT_TRUE(unpack_into_cache(image(), cache(), {.most_bytes = 1}).error().code ==
              ErrorCode::resource_exhausted);
  fs::create_directories(cache() + "/images/unpacking-17/rootfs/d");
  ASSERT_TRUE(unpack_into_cache(image(), cache()));
  EXPECT_EQ(kept(), 1);
}

TEST_F(CacheTest, AHalfImageOfThatNameIsNotUsed) {
  // Without a root it cannot have been put there whole.
  fs::create_directories(cache() + "/images");
  fs::permissions(cache() + "/images", fs::perms::owner_all);
  fs::create_directory(cache() + "/images/sha256-" + image().id + ".image");
  EXPECT_FALSE(unpack_into_cache(image(), cache()));
}

}  // namespace
}  // namespace cordon::image
