#include "backend/gvisor/runsc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::gvisor_backend {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class RunscTest : public testing::Test {
 protected:
  RunscTest() {
    std::string name = (fs::temp_directory_path() / "cordon_runsc_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  ~RunscTest() override { fs::remove_all(root_); }
  void put(const fs::path& directory, mode_t mode = 0755) {
    fs::create_directories(root_ / directory);
    const fs::path file = root_ / directory / "runsc";
    std::ofstream(file) << "#!/bin/sh\n";
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
  }
  [[nodiscard]] std::string at(const fs::path& path) const { return (root_ / path).string(); }
  fs::path root_;
};

TEST_F(RunscTest, MissingSaysHowToInstallIt) {
  const auto found = find_binary(at("nowhere"));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::unsupported);
  EXPECT_THAT(found.error().message, HasSubstr("apt-get install runsc"));
  EXPECT_FALSE(find_binary(""));
}

TEST_F(RunscTest, TheFirstUsableOneIsTaken) {
  put("plain", 0644);
  put("good");
  put("later");
  const auto found = find_binary(at("plain") + ":relative:" + at("good") + ":" + at("later"));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, at("good/runsc"));
}

TEST_F(RunscTest, OneThatOthersCanReplaceIsNotUsed) {
  put("file", 0777);
  const auto file = find_binary(at("file"));
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, AllOf(HasSubstr(at("file/runsc")), HasSubstr("replace")));
  put("directory");
  ASSERT_EQ(::chmod(at("directory").c_str(), 0777), 0);
  EXPECT_FALSE(find_binary(at("directory")));
}

TEST(RunscVersion, IsWhatItSays) {
  EXPECT_EQ(parse_version("runsc version 0.0~20221219.0\nspec: 1.0.2-dev\n"), "0.0~20221219.0");
  EXPECT_EQ(parse_version("busybox"), "");
  EXPECT_EQ(parse_version(""), "");
}

TEST(RunscPlatform, IsPtraceWhereThereIsOne) {
  EXPECT_EQ(choose_platform("  -platform string\n    \twhich: ptrace (default), kvm.\n  -x\n"),
            "ptrace");
  EXPECT_EQ(choose_platform("  -platform string\n    \twhich: systrap.\n  -trace ptrace\n"), "");
  EXPECT_EQ(choose_platform(""), "");
}

TEST(RunscErrors, AreTheLastOnesOfItsLog) {
  const std::string log =
      R"({"msg":"first","level":"error","time":"x"}{"msg":"a warning","level":"warning"}
{"msg":"second \u001b[1m","level":"error"}{"msg":"half)";
  EXPECT_EQ(last_error(log), "second \\x1b[1m");
  EXPECT_EQ(last_error("", "one\ntwo\n"), "two");
  EXPECT_EQ(last_error("", ""), "");
}

TEST(RunscCommand, NeverMakesGroupsOrANetworkOfItsOwn) {
  const Runsc runsc{.path = "/usr/bin/runsc", .platform = "ptrace", .rootless = true};
  const auto words = runsc.command("/s", "/l");
  EXPECT_EQ(words.front(), "/usr/bin/runsc");
  for (const char* word :
       {"--ignore-cgroups", "--network=none", "--platform=ptrace", "--root=/s", "--rootless"}) {
    EXPECT_THAT(words, Contains(word));
  }
}

}  // namespace
}  // namespace cordon::gvisor_backend
