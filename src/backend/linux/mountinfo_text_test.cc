#include "backend/linux/mountinfo_text.h"

#include <gtest/gtest.h>

namespace cordon::linux_backend {
namespace {

TEST(MountinfoTextTest, GivesBackWhatTheKernelHasEscaped) {
  EXPECT_EQ(unescaped_mount_path(R"(/a\040b\011c\012d\134e\043f)"), "/a b\tc\nd\\e#f");
  EXPECT_EQ(unescaped_mount_path(R"(\040)"), " ");
  EXPECT_EQ(unescaped_mount_path("/plain"), "/plain");
  EXPECT_EQ(unescaped_mount_path(""), "");
}

TEST(MountinfoTextTest, AnEscapedBackslashBeginsNoOtherEscape) {
  EXPECT_EQ(unescaped_mount_path(R"(/a\134040b)"), R"(/a\040b)");
}

TEST(MountinfoTextTest, LeavesWhatIsNoEscapeAsItIs) {
  for (const char* path : {R"(/a\)", R"(/a\0)", R"(/a\04)", R"(/a\048)", R"(/a\x40)"}) {
    EXPECT_EQ(unescaped_mount_path(path), path);
  }
}

}  // namespace
}  // namespace cordon::linux_backend
