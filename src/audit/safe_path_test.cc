#include "audit/safe_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "audit/test_log.h"
#include "support/must_work.h"

namespace cordon::audit {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class SafePath : public LogTest {
 protected:
  [[nodiscard]] static std::string refusal(const std::string& path) {
    const auto opened = open_safe_directory(path);
    return opened ? "" : opened.error().message;
  }
  [[nodiscard]] std::string made(const std::string& name, mode_t mode) const {
    const std::string path = top() / name;
    fs::create_directories(path);
    ::chmod(path.c_str(), mode);
    return path;
  }
};

TEST_F(SafePath, MakesWhatIsMissingForTheCallerAlone) {
  const std::string path = top() / "a/b/c";
  EXPECT_EQ(refusal(path), "");
  for (const char* const part : {"a", "a/b", "a/b/c"}) {
    EXPECT_EQ(fs::status(top() / part).permissions(), fs::perms::owner_all) << part;
  }
}

TEST_F(SafePath, RefusesWhereOthersMayWrite) {
  for (const mode_t mode : {0770, 0707, 0702, 01777}) {
    const std::string path = made("open", mode);
    EXPECT_THAT(refusal(path), HasSubstr("others may write to it")) << std::oct << mode;
  }
}

TEST_F(SafePath, RefusesAParentWhereOthersMayWrite) {
  const std::string parent = made("open", 0777);
  EXPECT_THAT(refusal(parent + "/log"), HasSubstr(parent + ": others may write to it"));
  EXPECT_FALSE(fs::exists(parent + "/log"));
  EXPECT_THAT(refusal(parent + "/x/../../open/log"), HasSubstr("others may write to it"));
}

TEST_F(SafePath, AStickyParentIsSafe) { EXPECT_EQ(refusal(made("sticky", 01777) + "/log"), ""); }

TEST_F(SafePath, RefusesWhatIsSomebodyElses) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "needs root, to give a directory away");
  const std::string path = made("theirs", 0755);
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(path), HasSubstr("belongs to user 12345"));
  EXPECT_THAT(refusal(path + "/log"), HasSubstr("belongs to user 12345"));
}

TEST_F(SafePath, WhereALinkLeadsIsLookedAtToo) {
  fs::create_symlink(made("good", 0755), top() / "to-good");
  EXPECT_EQ(refusal(top() / "to-good/log"), "");
  EXPECT_TRUE(fs::exists(top() / "good/log"));
  fs::create_symlink(made("open", 0777), top() / "to-open");
  EXPECT_THAT(refusal(top() / "to-open/log"), HasSubstr("others may write to it"));
}

TEST_F(SafePath, RefusesWhatIsNoDirectory) {
  write(top() / "file", "");
  EXPECT_THAT(refusal(top() / "file"), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(top() / "file/log"), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(""), HasSubstr("has no directory"));
}

}  // namespace
}  // namespace cordon::audit
