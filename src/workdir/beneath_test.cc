#include "workdir/beneath.h"

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>

#include "support/must_work.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

class Beneath : public TreeTest {
 protected:
  void SetUp() override {
    TreeTest::SetUp();
    make("tree/inner");
    write_file(path("tree/inner/f"));
    make("outside");
    top_ = open_directory(path("tree"));
  }
  [[nodiscard]] int top() const { return top_.get(); }
  [[nodiscard]] int error_of_opening(const char* name) const {
    return open_beneath(top(), name, O_RDONLY) ? 0 : errno;
  }

 private:
  base::Fd top_;
};

TEST_F(Beneath, OpensWhatIsThere) { EXPECT_EQ(error_of_opening("inner/f"), 0); }

TEST_F(Beneath, DoesNotLeadOut) {
  EXPECT_EQ(error_of_opening("../outside"), EXDEV);
  EXPECT_EQ(error_of_opening("/etc"), EXDEV);
}

TEST_F(Beneath, FollowsNoLinkNotEvenOneThatStaysInside) {
  ASSERT_EQ(::symlink("inner", path("tree/link").c_str()), 0);
  ASSERT_EQ(::symlink(path("outside").c_str(), path("tree/out").c_str()), 0);
  EXPECT_EQ(error_of_opening("link/f"), ELOOP);
  EXPECT_EQ(error_of_opening("out"), ELOOP);
  EXPECT_FALSE(open_to_empty(top(), "out"));
  EXPECT_EQ(errno, ENOTDIR);
}

TEST_F(Beneath, EntersNoMountNotEvenOfTheSameFileSystem) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can mount");
  ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(::mount(path("outside").c_str(), path("tree/inner").c_str(), nullptr, MS_BIND, nullptr),
            0);
  // By a descriptor of this namespace: the one from before does not see the mount at all.
  const base::Fd here = open_directory(path("tree"));
  EXPECT_FALSE(open_beneath(here.get(), "inner", O_RDONLY));
  EXPECT_EQ(errno, EXDEV);
  EXPECT_FALSE(open_to_empty(here.get(), "inner"));
  EXPECT_EQ(errno, EXDEV);
  ASSERT_EQ(::umount2(path("tree/inner").c_str(), MNT_DETACH), 0);
}

TEST_F(Beneath, OpensUpADirectoryToBeEmptied) {
  ASSERT_EQ(::chmod(path("tree/inner").c_str(), 0), 0);
  EXPECT_TRUE(open_to_empty(top(), "inner"));
  EXPECT_EQ(mode_of(path("tree/inner")), 0700U);
  EXPECT_FALSE(open_to_empty(top(), "inner/f")) << "no directory";
}

}  // namespace
}  // namespace cordon::workdir
