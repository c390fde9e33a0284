#include "mcp/source/zip_archive.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "mcp/source/zip_testing.h"
#include "mcp/source/zip_unpack.h"

namespace cordon::mcp {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string content_of(const ZipEntry& entry) {
  std::string all;
  const auto done = unpack_entry(entry, "f", [&](std::string_view part) -> Result<void> {
    all += part;
    return {};
  });
  EXPECT_TRUE(done) << done.error().message;
  return all;
}

std::string truly_deflated(std::string_view data) {
  std::string out(::compressBound(data.size()) + 64, '\0');
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  (void)::deflateEnd(&stream);
  return out;
}

void expect_refused(const std::string& archive, const std::string& why,
                    const ZipLimits& limits = {}) {
  const auto entries = read_zip(archive, "odd.mcpb", limits);
  Result<void> done;
  if (!entries) {
    done = std::unexpected(entries.error());
  } else {
    for (const ZipEntry& entry : *entries) {
      if (done)
        done = unpack_entry(entry, "odd.mcpb", [](std::string_view) { return Result<void>(); });
    }
  }
  ASSERT_FALSE(done) << why;
  EXPECT_THAT(done.error().message, AllOf(HasSubstr("odd.mcpb"), HasSubstr(why)));
}

TEST(ZipArchive, ReadsStoredAndDeflatedFiles) {
  const std::string zeros(300'000, 'z');
  auto truly = ZipBuilder::stored("deep/er/zeros", zeros);
  truly.packed = truly_deflated(zeros);
  truly.method = 8;
  auto program = ZipBuilder::deflated("run", "#!/bin/sh\n");
  program.mode = 0100755;
  const std::string archive = ZipBuilder()
                                  .add("manifest.json", "{}")
                                  .add({.name = "deep/", .mode = 040755})
                                  .add(truly)
                                  .add(program)
                                  .add({.name = "empty"})
                                  .str("a comment");
  const auto entries = read_zip(archive, "f");
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 5U);
  EXPECT_EQ(content_of((*entries)[0]), "{}");
  EXPECT_TRUE((*entries)[1].directory);
  EXPECT_EQ((*entries)[1].path, "deep");
  EXPECT_EQ(content_of((*entries)[2]), zeros);
  EXPECT_TRUE((*entries)[3].executable);
  EXPECT_EQ(content_of((*entries)[3]), "#!/bin/sh\n");
  EXPECT_EQ(content_of((*entries)[4]), "");
}

TEST(ZipArchive, ReadsABundleWithItsSignatureBehind) {
  const ZipBuilder zip = ZipBuilder().add("a", "b");
  const std::string signature = "MCPB_SIG_V1" + zip_number(4, 4) + "abcdMCPB_SIG_END";
  EXPECT_TRUE(read_zip(zip.str() + signature, "f"));
  EXPECT_TRUE(read_zip(zip.str(signature), "f"));
  expect_refused(zip.str() + "something", "its end is missing");
}

TEST(ZipArchive, RefusesNamesThatLeadElsewhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"../up", "\"..\""},
      {"a/../../up", "\"..\""},
      {"/etc/passwd", "absolute"},
      {"C:/x", "absolute"},
      {"a\\..\\b", "\\"},
      {"a//b", "empty part"},
      {"./a", "\".\""},
      {"", "no name"},
      {"a\nb", "control"},
      {"a/..", "\"..\""},
      {"\xFF", "UTF-8"},
      {std::string("a\0b", 3), "control"},
      {std::string(2000, 'x'), "too long"},
  };
  for (const auto& [name, why] : cases) expect_refused(ZipBuilder().add(name, "x").str(), why);
}

TEST(ZipArchive, RefusesLinksAndDevices) {
  auto link = ZipBuilder::stored("link", "/etc/passwd");
  link.mode = 0120777;
  expect_refused(ZipBuilder().add(link).str(), "symbolic link");
  link.mode = 0020666;
  expect_refused(ZipBuilder().add(link).str(), "neither a file");
  link.mode = 0040755;
  expect_refused(ZipBuilder().add(link).str(), "not by both");
}

TEST(ZipArchive, RefusesNamesThatAreNotOne) {
  expect_refused(ZipBuilder().add("a", "1").add("a", "2").str(), "twice");
  expect_refused(ZipBuilder().add("manifest.json", "1").add("Manifest.json", "2").str(),
                 "in case alone");
  expect_refused(ZipBuilder().add("lib/a", "1").add("LIB/b", "2").str(), "in case alone");
  expect_refused(ZipBuilder().add("a", "1").add("a/b", "2").str(), "below a file");
  expect_refused(ZipBuilder().add("a/b", "1").add("a", "2").str(), "a file and a directory");
}

TEST(ZipArchive, RefusesBombs) {
  const std::string zeros(2'000'000, '\0');
  auto bomb = ZipBuilder::stored("bomb", zeros);
  bomb.packed = truly_deflated(zeros);
  bomb.method = 8;
  const std::string archive = ZipBuilder().add(bomb).str();
  EXPECT_TRUE(read_zip(archive, "f"));
  expect_refused(archive, "larger unpacked", {.small_bytes = 1000});
  expect_refused(archive, "larger unpacked", {.max_bytes = 1'999'999});
  bomb.size = 1000;  // and the rest is a surprise
  expect_refused(ZipBuilder().add(bomb).str(), "larger than it says");
  bomb.size = 0xFFFFFFF0;
  expect_refused(ZipBuilder().add(bomb).str(), "larger unpacked");
  ZipBuilder many;
  for (int i = 0; i < 101; ++i) many.add(std::to_string(i), "");
  expect_refused(many.str(), "more files", {.max_entries = 100});
  std::string deep;
  for (int i = 0; i < 101; ++i) deep += "d/";
  expect_refused(ZipBuilder().add(deep + "f", "").str(), "more directories", {.max_entries = 100});
}

TEST(ZipArchive, RefusesEntriesThatShareTheirBytes) {
  auto again = ZipBuilder::stored("a", "content");
  again.offset = 0;
  again.name = "b";
  expect_refused(ZipBuilder().add("a", "content").add(again).str(), "two ways that differ");
  // Quoted: the second lies within the first.
  const std::string inner = ZipBuilder().add("b", "x").str().substr(0, 32);
  auto inside = ZipBuilder::stored("b", "x");
  inside.offset = 31;
  expect_refused(ZipBuilder().add("a", inner).add(inside).str(), "overlap");
}

TEST(ZipArchive, RefusesWhatIsDamagedOrNotForUs) {
  auto entry = ZipBuilder::stored("a", "content");
  entry.crc ^= 1U;
  expect_refused(ZipBuilder().add(entry).str(), "CRC");
  entry = ZipBuilder::deflated("a", "content");
  entry.crc ^= 1U;
  expect_refused(ZipBuilder().add(entry).str(), "CRC");
  entry = ZipBuilder::deflated("a", "content");
  entry.packed.pop_back();
  expect_refused(ZipBuilder().add(entry).str(), "cut off");
  entry = ZipBuilder::deflated("a", "content");
  entry.packed += "more";
  expect_refused(ZipBuilder().add(entry).str(), "behind its end");
  entry = ZipBuilder::deflated("a", "content");
  entry.size += 1;
  expect_refused(ZipBuilder().add(entry).str(), "smaller than it says");
  entry = ZipBuilder::stored("a", "content");
  entry.size += 1;
  expect_refused(ZipBuilder().add(entry).str(), "two sizes");
  entry = ZipBuilder::stored("a", "content");
  entry.flags = 1;
  expect_refused(ZipBuilder().add(entry).str(), "encrypted");
  entry = ZipBuilder::stored("a", "content");
  entry.method = 12;
  expect_refused(ZipBuilder().add(entry).str(), "another method");
  entry = ZipBuilder::stored("a", "content");
  entry.local_name = "b";
  expect_refused(ZipBuilder().add(entry).str(), "two ways");
  entry = ZipBuilder::stored("a", "content");
  entry.offset = 5000;
  expect_refused(ZipBuilder().add(entry).str(), "not where");
  entry = ZipBuilder::stored("a", "");
  entry.size = 0xFFFFFFFF;
  entry.method = 8;
  expect_refused(ZipBuilder().add(entry).str(), "zip64");
  expect_refused("", "no zip archive");
  expect_refused("PK", "no zip archive");
}

TEST(ZipArchive, RefusesEveryPartOfAnArchive) {
  const std::string whole = ZipBuilder().add("a", "content").add("b/c", "more").str();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_zip(std::string_view(whole).substr(0, size), "f")) << size;
  }
}

class ZipUnpack : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "cordon-zip-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    top_ = pattern;
    fd_ = base::Fd(::open(pattern.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { std::filesystem::remove_all(top_); }

  std::filesystem::path top_;
  base::Fd fd_;
};

TEST_F(ZipUnpack, MakesFilesThatEverybodyMayReadAndNobodyElseWrites) {
  const mode_t before = ::umask(0077);
  auto program = ZipBuilder::stored("bin/run", "#!");
  program.mode = 0106777;  // set-user-id, and writable
  const auto done = unpack_zip(
      ZipBuilder().add("a/b/c", "text").add(program).add({.name = "d/", .mode = 040777}).str(), "f",
      fd_.get());
  ::umask(before);
  ASSERT_TRUE(done) << done.error().message;
  const auto mode = [&](const char* name) {
    struct stat info{};
    EXPECT_EQ(::lstat((top_ / name).c_str(), &info), 0) << name;
    return info.st_mode & 07777U;
  };
  EXPECT_EQ(mode("a/b/c"), 0644U);
  EXPECT_EQ(mode("bin/run"), 0755U);
  EXPECT_EQ(mode("a/b"), 0755U);
  EXPECT_EQ(mode("d"), 0755U);
  std::ifstream in(top_ / "a/b/c");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "text");
}

TEST_F(ZipUnpack, FollowsNoLinkAndReplacesNothing) {
  std::filesystem::create_directory_symlink("/tmp", top_ / "a");
  EXPECT_FALSE(unpack_zip(ZipBuilder().add("a/cordon-canary", "x").str(), "f", fd_.get()));
  EXPECT_FALSE(std::filesystem::exists("/tmp/cordon-canary"));
  std::ofstream(top_ / "b") << "mine";
  EXPECT_FALSE(unpack_zip(ZipBuilder().add("b", "x").str(), "f", fd_.get()));
}

TEST_F(ZipUnpack, WritesNothingOfAnArchiveThatIsWrongAnywhere) {
  EXPECT_FALSE(unpack_zip(ZipBuilder().add("a", "x").add("../b", "x").str(), "f", fd_.get()));
  EXPECT_TRUE(std::filesystem::is_empty(top_));
}

}  // namespace
}  // namespace cordon::mcp
