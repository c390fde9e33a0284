#include "workdir/collect.h"

#include <gmock/gmock.h>
#include <sys/sysmacros.h>

#include "support/must_work.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Collect : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    make("work/out/deep");
    make("into");
    ASSERT_EQ(::chmod(path("into").c_str(), 0755), 0);
  }

  [[nodiscard]] Result<Collected> collect(std::vector<std::string> globs,
                                          CollectOptions options = {}) const {
    options.globs = std::move(globs);
    options.into = path("into");
    const auto into = OutputDirectory::open(options.into);
    if (!into) return std::unexpected(into.error());
    const base::Fd top = open_directory(path("work"));
    return collect_files(top.get(), *into, options);
  }
  // Why the only thing that matched was not taken.
  [[nodiscard]] std::string refusal(const std::string& glob, CollectOptions options = {}) const {
    const auto result = collect({glob}, std::move(options));
    if (!result) return result.error().message;
    EXPECT_THAT(result->files, IsEmpty());
    EXPECT_EQ(entries_in(path("into")), 0U);
    return result->refused.size() == 1 ? result->refused[0].why : "not refused";
  }
};

TEST_F(Collect, CopiesWhatMatchesAndNothingElse) {
  write_file(path("work/out/a.txt"), "A");
  write_file(path("work/out/deep/b.txt"), "B");
  write_file(path("work/out/c.bin"), "C");
  const auto result = collect({"out/**/*.txt"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->files, ElementsAre("out/a.txt", "out/deep/b.txt"));
  EXPECT_EQ(result->bytes, 2U);
  EXPECT_THAT(result->refused, IsEmpty());
  EXPECT_EQ(content_of(path("into/out/a.txt")), "A");
  EXPECT_EQ(content_of(path("into/out/deep/b.txt")), "B");
  EXPECT_FALSE(std::filesystem::exists(path("into/out/c.bin")));
}

TEST_F(Collect, TellsWhichPatternFoundNothing) {
  write_file(path("work/a"));
  const auto result = collect({"a", "missing", "out"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->files, ElementsAre("a"));
  EXPECT_THAT(result->unmatched, ElementsAre("missing", "out"));
}

TEST_F(Collect, NeverReplacesAFile) {
  write_file(path("work/a"), "new");
  write_file(path("work/b"), "B");
  write_file(path("into/a"), "precious");
  const auto result = collect({"*"});
  ASSERT_TRUE(result);
  ASSERT_EQ(result->failed.size(), 1U);
  EXPECT_EQ(result->failed[0].path, "a");
  EXPECT_THAT(result->failed[0].why, HasSubstr("exists"));
  EXPECT_EQ(content_of(path("into/a")), "precious");
  EXPECT_THAT(result->files, ElementsAre("b"));
  EXPECT_EQ(entries_in(path("into")), 2U) << "nothing lies about";
}

TEST_F(Collect, DoesNotWriteThroughLinksInTheDestination) {
  const Bait bait(path("bait"));
  write_file(path("work/a"));
  write_file(path("work/out/f"));
  ASSERT_EQ(::symlink(path("elsewhere").c_str(), path("into/a").c_str()), 0);
  ASSERT_EQ(::symlink(bait.path().c_str(), path("into/out").c_str()), 0);
  const auto result = collect({"**"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->files, IsEmpty());
  EXPECT_EQ(result->failed.size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(path("elsewhere")));
  EXPECT_TRUE(bait.intact());
}

TEST_F(Collect, RefusesLinks) {
  write_file(path("secret"), "secret");
  ASSERT_EQ(::symlink(path("secret").c_str(), path("work/link").c_str()), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("symbolic link"));
}

TEST_F(Collect, DoesNotEnterLinkedDirectories) {
  const Bait bait(path("bait"));
  ASSERT_EQ(::symlink(bait.path().c_str(), path("work/out/link").c_str()), 0);
  const auto result = collect({"out/link/*", "out/link/inner/*"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->files, IsEmpty());
}

TEST_F(Collect, RefusesFilesWithASecondName) {
  write_file(path("secret"), "secret");
  ASSERT_EQ(::link(path("secret").c_str(), path("work/hard").c_str()), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("hard link"));
}

TEST_F(Collect, RefusesPipesAndDevicesWithoutWaitingForThem) {
  ASSERT_EQ(::mkfifo(path("work/pipe").c_str(), 0600), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("pipe"));
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can make devices");
  ASSERT_EQ(::unlink(path("work/pipe").c_str()), 0);
  ASSERT_EQ(::mknod(path("work/zero").c_str(), S_IFCHR | 0600, makedev(1, 5)), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("device"));
}

TEST_F(Collect, KeepsToItsBounds) {
  write_file(path("work/a"), std::string(100, 'x'));
  EXPECT_THAT(refusal("*", {.max_bytes = 99}), HasSubstr("--collect-limit"));
  ASSERT_TRUE(collect({"*"}, {.max_bytes = 100}));
  EXPECT_EQ(std::filesystem::file_size(path("into/a")), 100U);

  for (const char* const name : {"out/1", "out/2", "out/3"}) write_file(path("work") + "/" + name);
  const auto result = collect({"out/*"}, {.max_files = 2});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->files.size(), 2U);
  EXPECT_EQ(result->refused.size(), 1U);
}

TEST_F(Collect, LeavesHolesEmpty) {
  constexpr off_t kSize = off_t{256} * 1024 * 1024;
  const base::Fd file(::open(path("work/sparse").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(file.get(), kSize), 0);
  ASSERT_EQ(::pwrite(file.get(), "data", 4, kSize / 2), 4);
  const auto result = collect({"sparse"});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->bytes, static_cast<std::uint64_t>(kSize));
  struct stat copy{};
  ASSERT_EQ(::stat(path("into/sparse").c_str(), &copy), 0);
  EXPECT_EQ(copy.st_size, kSize);
  EXPECT_LT(copy.st_blocks * 512, off_t{8} * 1024 * 1024);
  const base::Fd read(::open(path("into/sparse").c_str(), O_RDONLY | O_CLOEXEC));
  char data[4];
  ASSERT_EQ(::pread(read.get(), data, 4, kSize / 2), 4);
  EXPECT_EQ(std::string(data, 4), "data");
}

TEST_F(Collect, AnImpossiblySparseFileIsOverTheBound) {
  write_file(path("work/huge"));
  ASSERT_EQ(::truncate(path("work/huge").c_str(), off_t{1} << 40), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("--collect-limit"));
}

TEST_F(Collect, GivesNoFileRightsThatItHad) {
  write_file(path("work/tool"));
  ASSERT_EQ(::chmod(path("work/tool").c_str(), 06777), 0);
  ASSERT_TRUE(collect({"tool"}));
  EXPECT_EQ(mode_of(path("into/tool")) & ~0644U, 0U);
}

TEST_F(Collect, RefusesADestinationThatOthersMayChange) {
  write_file(path("work/a"));
  ASSERT_EQ(::chmod(path("into").c_str(), 0777), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("may write"));
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can give a directory away");
  ASSERT_EQ(::chmod(path("into").c_str(), 0755), 0);
  ASSERT_EQ(::chown(path("into").c_str(), 1234, 1234), 0);
  EXPECT_THAT(refusal("*"), HasSubstr("user 1234"));
}

TEST_F(Collect, RefusesADestinationInTheWorkDirectory) {
  for (const char* const inside : {"work", "work/out/deep"}) {
    const auto into = OutputDirectory::open(path(inside));
    ASSERT_TRUE(into);
    const base::Fd top = open_directory(path("work"));
    const auto result = collect_files(top.get(), *into, {.globs = {"*"}, .into = path(inside)});
    ASSERT_FALSE(result) << inside;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
  }
}

TEST_F(Collect, SurvivesADeepTree) {
  base::Fd at = open_directory(path("work"));
  const std::string name(200, 'd');
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = base::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  write_file(path("work/a"));
  const auto result = collect({"**"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->files, ElementsAre("a"));
  EXPECT_EQ(result->refused.size(), 1U) << "what is too deep is told";
}

}  // namespace
}  // namespace cordon::workdir
