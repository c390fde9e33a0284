// Policy files that cannot be trusted are not used, and none makes the command hang.
#include "execution/policy_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "execution/test_folder.h"
#include "support/must_work.h"

namespace cordon::execution {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class PolicyFilesTest : public FolderTest {
 protected:
  // What is said about these files; "" if they are fine. No site policy.
  [[nodiscard]] std::string error(const std::vector<std::string>& files) const {
    const auto policy = load_policy(files, "", path("no-site.toml"));
    return policy ? "" : policy.error().message;
  }
};

TEST_F(PolicyFilesTest, AFileOfOnesOwnIsFine) {
  EXPECT_EQ(error({file("p.toml", "network = \"none\"\n")}), "");
  fs::create_symlink("p.toml", path("link.toml"));
  EXPECT_EQ(error({path("link.toml")}), "") << "what a link leads to is what counts";
  EXPECT_EQ(error({}), "");
}

TEST_F(PolicyFilesTest, OthersMustNotBeAbleToWriteToIt) {
  EXPECT_THAT(error({file("g.toml", "", 0620)}), HasSubstr("others may write to it: chmod go-w"));
  EXPECT_THAT(error({file("o.toml", "", 0602)}), HasSubstr("others may write to it"));
}

TEST_F(PolicyFilesTest, OthersMustNotBeAbleToReplaceIt) {
  const std::string inside = file("open/p.toml", "");
  ::chmod(path("open").c_str(), 0777);
  EXPECT_THAT(error({inside}), HasSubstr("others may write to its directory"));
  ::chmod(path("open").c_str(), 01777);
  EXPECT_THAT(error({inside}), HasSubstr("others may write to its directory")) << "sticky";
  // … but a directory of one's own in a sticky one cannot be moved away by others.
  EXPECT_EQ(error({file("open/own/p.toml", "")}), "");
  ::chmod(path("open").c_str(), 0777);
  EXPECT_NE(error({path("open/own/p.toml")}), "");
  // A link does not hide where the file is.
  fs::create_symlink(inside, path("link.toml"));
  EXPECT_THAT(error({path("link.toml")}), HasSubstr("others may write to its directory"));
}

TEST_F(PolicyFilesTest, ItHasToBelongToRootOrTheCaller) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "needs root, to make files of others");
  const std::string foreign = file("p.toml", "");
  ASSERT_EQ(::chown(foreign.c_str(), 12345, 12345), 0);
  EXPECT_THAT(error({foreign}), HasSubstr("it belongs to uid 12345"));
  const std::string below = file("theirs/p.toml", "");
  ASSERT_EQ(::chown(path("theirs").c_str(), 12345, 12345), 0);
  EXPECT_THAT(error({below}), HasSubstr("belongs to uid 12345, who could put another"));
}

TEST_F(PolicyFilesTest, WhatIsNoFileIsNamedAndNeverWaitedFor) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error({path("pipe")}), HasSubstr("is a pipe: name a regular file"));
  EXPECT_THAT(error({"/dev/zero"}), HasSubstr("is a device"));
  EXPECT_THAT(error({folder_}), HasSubstr("is a directory"));
  EXPECT_THAT(error({path("missing")}), HasSubstr("No such file"));
  EXPECT_THAT(error({"/proc/self/fd/0"}), HasSubstr("opening /proc/self/fd/0"));
}

TEST_F(PolicyFilesTest, AHugeFileIsRefusedWithoutBeingRead) {
  const std::string huge = file("huge.toml", "");
  fs::resize_file(huge, 100U * 1024 * 1024);
  EXPECT_THAT(error({huge}), HasSubstr("is larger than 1024K"));
}

TEST_F(PolicyFilesTest, TheSitesPolicyAlwaysHolds) {
  const std::string site = file("site.toml", "[limits]\nmemory = \"1M\"\n");
  const std::vector<std::string> mine = {file("mine.toml", "[limits]\nmemory = \"1G\"\n")};
  const auto policy = load_policy(mine, "", site);
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->files, (std::vector<std::string>{site, mine.front()}));
  EXPECT_EQ(policy->ceilings.front().limits.memory->place.file, site);
  // A site policy that cannot be used is no reason to go on without.
  ::chmod(site.c_str(), 0666);
  EXPECT_FALSE(load_policy(mine, "", site));
  fs::remove(site);
  fs::create_symlink("nowhere", site);
  EXPECT_TRUE(load_policy(mine, "", site)) << "a link that leads nowhere is no policy";
}

TEST_F(PolicyFilesTest, IncludedFilesAreCheckedTheSame) {
  file("b.toml", "", 0666);
  EXPECT_THAT(error({file("a.toml", "include = [\"b.toml\"]\n")}), HasSubstr("b.toml is not used"));
  file("c.toml", "include = [\"./d.toml\"]\n");
  file("d.toml", "include = [\"x/../c.toml\"]\n");
  fs::create_directory(path("x"));
  EXPECT_THAT(error({path("c.toml")}), HasSubstr("in a circle")) << "whatever they are called";
}

class ManifestFileTest : public PolicyFilesTest {
 protected:
  [[nodiscard]] std::string load(const std::string& rest, const std::string& command = "x") const {
    const auto loaded =
        load_manifest(file("m.toml", "name = \"a\"\nversion = \"1\"\n" + rest +
                                         "\n[entrypoint]\ncommand = \"" + command + "\"\n"));
    return loaded ? "" : loaded.error().message;
  }
};

TEST_F(ManifestFileTest, NamesWhatIsInItsDirectory) {
  file("bin/server", "", 0700);
  fs::create_directory(path("data"));
  EXPECT_EQ(load("cwd = \"data\"", "bin/server"), "");
  EXPECT_EQ(load_manifest(path("m.toml"))->bundle, folder_);
  EXPECT_THAT(load("", "bin/none"), HasSubstr("cannot be opened in the manifest's directory"));
}

TEST_F(ManifestFileTest, LinksInsideAreRefused) {
  fs::create_symlink("/bin/sh", path("shell"));
  fs::create_directory_symlink("/tmp", path("out"));
  EXPECT_THAT(load("", "./shell"),
              HasSubstr("the command ./shell is, or leads through, a symbolic"));
  EXPECT_THAT(load("cwd = \"out\""), HasSubstr("cwd out is, or leads through, a symbolic link"));
  EXPECT_THAT(load("security = {read = [\"out/x\"]}"), HasSubstr("the path out/x is, or leads"));
}

}  // namespace
}  // namespace cordon::execution
