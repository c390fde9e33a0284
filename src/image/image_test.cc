#include "image/image.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "image/testing.h"
#include "image/unpack.h"

namespace cordon::image {
namespace {

using testing::archive;
using ::testing::ElementsAre;
using testing::file;
using ::testing::HasSubstr;
using testing::Layout;
using testing::read;
namespace fs = std::filesystem;

class ImageTest : public ::testing::Test {
 protected:
  [[nodiscard]] fs::path place() const { return folder_.path() / "image"; }
  Result<void> unpack(Budget budget = {}) const { return unpack("", budget); }
  Result<void> unpack(const std::string& tag, Budget budget) const {
    const auto image = open_image(place().string(), tag);
    if (!image) return std::unexpected(image.error());
    const fs::path root = folder_.path() / "root";
    fs::remove_all(root);
    fs::create_directory(root);
    const base::Fd top(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return unpack_layers(*image, top.get(), budget);
  }
  void expect_refused(ErrorCode code, std::string_view why) const {
    const auto done = unpack();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, code) << done.error().message;
    EXPECT_THAT(done.error().message, HasSubstr(why));
  }
  static Layout two_layers() {
    Layout layout;
    layout.layer(archive({file("a", "one"), file("b", "two")}));
    layout.layer(archive({file(".wh.a", ""), file("c", "three")}), true);
    layout.finish();
    return layout;
  }

  testing::Folder folder_;
};

TEST_F(ImageTest, LayersOfALayoutAreUnpackedInOrder) {
  two_layers().write(place());
  const auto done = unpack();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(fs::exists(folder_.path() / "root/a"));
  EXPECT_EQ(read(folder_.path() / "root/b"), "two");
  EXPECT_EQ(read(folder_.path() / "root/c"), "three");
}

TEST_F(ImageTest, AnArchiveOfALayoutIsTheSame) {
  const Layout layout = two_layers();
  std::ofstream(place(), std::ios::binary) << layout.packed();
  const auto done = unpack();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(read(folder_.path() / "root/c"), "three");
}

TEST_F(ImageTest, WhatDockerSavesIsRead) {
  const std::string layer = archive({file("hello", "world")});
  const std::string config =
      R"({"config":{"Entrypoint":["/e"],"Cmd":null},"rootfs":{"diff_ids":["sha256:)" +
      testing::digest(layer) + "\"]}}";
  const std::string name = testing::digest(config) + ".json";
  const std::string list =
      R"([{"Config":")" + name + R"(","RepoTags":["x:latest"],"Layers":["l/layer.tar"]}])";
  std::ofstream(place(), std::ios::binary)
      << archive({file(name, config), file("l/layer.tar", layer), file("manifest.json", list)});
  const auto image = open_image(place().string(), "latest");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_THAT(image->config.entrypoint, ElementsAre("/e"));
  ASSERT_TRUE(unpack());
  EXPECT_EQ(read(folder_.path() / "root/hello"), "world");
}

TEST_F(ImageTest, AChangedLayerOfDockersIsRefused) {
  const std::string layer = archive({file("hello", "world")});
  const std::string config =
      R"({"rootfs":{"diff_ids":["sha256:)" + testing::digest(layer) + "\"]}}";
  const std::string name = testing::digest(config) + ".json";
  const std::string list = R"([{"Config":")" + name + R"(","Layers":["l"]}])";
  std::ofstream(place(), std::ios::binary)
      << archive({file(name, config), file("l", archive({file("hello", "wurld")})),
                  file("manifest.json", list)});
  expect_refused(ErrorCode::invalid_argument, "configuration says");
}

// It would be kept under the digest of whatever it calls its configuration.
TEST_F(ImageTest, AnArchiveOfDockersWithoutLayersIsRefused) {
  const std::string config = R"({"config":{}})";
  const std::string name = testing::digest(config) + ".json";
  const std::string list = R"([{"Config":")" + name + R"(","Layers":[]}])";
  std::ofstream(place(), std::ios::binary)
      << archive({file(name, config), file("manifest.json", list)});
  expect_refused(ErrorCode::invalid_argument, "layers");
}

TEST_F(ImageTest, TheConfigurationIsRead) {
  two_layers().write(place());
  const auto image = open_image(place().string(), "latest");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_THAT(image->config.env, ElementsAre("PATH=/bin", "A=b"));
  EXPECT_THAT(image->config.command, ElementsAre("/bin/x"));
  EXPECT_EQ(image->config.directory, "/work");
}

TEST_F(ImageTest, AChangedLayerIsRefused) {
  Layout layout = two_layers();
  layout.files.front().second[600] ^= 1;
  layout.write(place());
  expect_refused(ErrorCode::invalid_argument, "digest");
}

TEST_F(ImageTest, AChangedManifestOrConfigurationIsRefused) {
  const Layout layout = two_layers();
  for (const std::size_t which : {std::size_t{2}, std::size_t{3}}) {
    Layout changed = layout;
    changed.files[which].second += ' ';
    fs::remove_all(place());
    changed.write(place());
    expect_refused(ErrorCode::invalid_argument, "digest");
  }
}

TEST_F(ImageTest, AMissingLayerIsRefused) {
  Layout layout = two_layers();
  layout.files.erase(layout.files.begin());
  layout.write(place());
  expect_refused(ErrorCode::not_found, "blobs/sha256");
}

TEST_F(ImageTest, ALinkInALayoutIsNotFollowed) {
  Layout layout = two_layers();
  const std::string name = layout.files.front().first;
  const std::string bytes = layout.files.front().second;
  layout.files.erase(layout.files.begin());
  layout.write(place());
  std::ofstream(folder_.path() / "elsewhere", std::ios::binary) << bytes;
  fs::create_symlink(folder_.path() / "elsewhere", place() / name);
  EXPECT_FALSE(unpack());
}

TEST_F(ImageTest, ZstdIsRefusedByName) {
  Layout layout;
  layout.layers.push_back(layout.blob("\x28\xb5\x2f\xfd and so on"));
  layout.finish();
  layout.write(place());
  expect_refused(ErrorCode::unsupported, "zstd");
}

TEST_F(ImageTest, AnotherAlgorithmThanSha256IsRefused) {
  fs::create_directory(place());
  std::ofstream(place() / "index.json") << R"({"manifests":[{"digest":"md5:00"}]})";
  expect_refused(ErrorCode::unsupported, "sha256");
}

TEST_F(ImageTest, ADigestIsNoPath) {
  fs::create_directory(place());
  std::ofstream(place() / "index.json")
      << R"({"manifests":[{"digest":"sha256:../../../../etc/passwd"}]})";
  expect_refused(ErrorCode::invalid_argument, "digest");
}

TEST_F(ImageTest, AnotherProcessorsImageIsRefused) {
  Layout layout;
  layout.system = R"("platform":{"os":"linux","architecture":"s390x"},)";
  layout.layer(archive({file("a")}));
  layout.finish();
  layout.write(place());
  expect_refused(ErrorCode::unsupported, "processors");
}

TEST_F(ImageTest, ATagThatIsNotThereIsRefusedWithThoseThatAre) {
  two_layers().write(place());
  const auto done = unpack("other", {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("latest"));
}

TEST_F(ImageTest, ABombOfZerosEndsAtTheBudget) {
  Layout layout;
  layout.layer(archive({file("zeros", std::string(std::size_t{64} << 20U, '\0'))}), true);
  layout.finish();
  layout.write(place());
  const auto done = unpack("", {.most_bytes = std::uint64_t{1} << 20U});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::resource_exhausted);
  EXPECT_LE(fs::file_size(folder_.path() / "root/zeros"), std::uint64_t{2} << 20U);
}

TEST_F(ImageTest, AClaimedSizeIsNoReasonToTrustIt) {
  testing::Item huge = file("huge", "");
  huge.entry.size = std::uint64_t{1} << 61U;
  Layout layout;
  layout.layer(archive({huge}));
  layout.finish();
  layout.write(place());
  expect_refused(ErrorCode::invalid_argument, "ends early");
}

TEST_F(ImageTest, ATruncatedArchiveIsRefusedAtEveryLength) {
  const std::string whole = two_layers().packed();
  for (std::size_t size = 0; size < whole.size() - 1024; size += 509) {
    std::ofstream(place(), std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(unpack()) << size;
  }
}

TEST_F(ImageTest, ATruncatedLayerIsRefusedAtEveryLength) {
  for (const bool packed : {false, true}) {
    const std::string tar = archive({file("a", "one"), file("b", std::string(3000, 'b'))});
    const std::string bytes = packed ? testing::gzip(tar) : tar;
    for (std::size_t size = 0; size < bytes.size(); size += packed ? 7 : 389) {
      if (!packed && size + 512 >= bytes.size()) break;  // the second empty block
      Layout layout;
      layout.layers.push_back(layout.blob(bytes.substr(0, size)));
      layout.finish();
      fs::remove_all(place());
      layout.write(place());
      EXPECT_FALSE(unpack()) << size;
    }
  }
}

TEST_F(ImageTest, WhatIsNoImageIsRefused) {
  std::ofstream(place()) << "hello";
  EXPECT_FALSE(unpack());
  fs::remove_all(place());
  fs::create_directory(place());
  expect_refused(ErrorCode::invalid_argument, "index.json");
  for (const char* const text : {"", "{", "[]", "{}", R"({"manifests":7})", R"({"manifests":[7]})",
                                 R"({"manifests":[]})", "null"}) {
    std::ofstream(place() / "index.json") << text;
    EXPECT_FALSE(unpack()) << text;
  }
  fs::remove_all(place());
  ASSERT_EQ(::mkfifo(place().c_str(), 0600), 0);
  expect_refused(ErrorCode::invalid_argument, "is no image");
}

}  // namespace
}  // namespace cordon::image
