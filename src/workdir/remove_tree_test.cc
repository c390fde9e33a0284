#include "workdir/remove_tree.h"

#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include <chrono>
#include <iostream>

#include "support/count_from.h"
#include "support/must_work.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

class RemoveTree : public TreeTest {
 protected:
  [[nodiscard]] Result<void> remove(const Deadline& deadline = soon_enough()) const {
    const base::Fd top = open_directory(path("tree"));
    return empty_directory(top.get(), path("tree"), deadline);
  }
  // `what`: how long that took is a figure worth telling.
  void expect_all_removed(const std::string& what = "") const {
    const auto begin = std::chrono::steady_clock::now();
    const auto removed = remove();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!what.empty()) std::cout << "figure: " << what << " in " << took.count() << " s\n";
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(entries_in(path("tree")), 0U);
  }
  // `depth` directories in each other, each with a file.
  void make_deep(int depth, const std::string& name) const {
    base::Fd at = open_directory(make("tree"));
    for (int i = 0; i < depth; ++i) {
      ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0) << i;
      const base::Fd file(::openat(at.get(), "file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      ASSERT_TRUE(file);
      at = base::Fd(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      ASSERT_TRUE(at);
    }
  }
};

TEST_F(RemoveTree, LeavesTheDirectoryEmpty) {
  make("tree/a/b/c");
  make("tree/a/empty");
  write_file(path("tree/f"));
  write_file(path("tree/a/b/f"));
  expect_all_removed();
}

TEST_F(RemoveTree, RemovesEveryKindOfFile) {
  make("tree/a");
  for (const std::string& place : {path("tree"), path("tree/a")}) {
    ASSERT_EQ(::mkfifo((place + "/pipe").c_str(), 0600), 0);
    ASSERT_EQ(::symlink("nowhere", (place + "/dangling").c_str()), 0);
    const base::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    (place + "/socket").copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  if (::geteuid() == 0) {
    ASSERT_EQ(::mknod(path("tree/a/device").c_str(), S_IFCHR | 0600, makedev(1, 3)), 0);
  }
  expect_all_removed();
}

TEST_F(RemoveTree, FollowsNoLink) {
  const Bait bait(path("bait"));
  make("tree/a");
  for (const char* const link : {"tree/link", "tree/a/link"}) {
    ASSERT_EQ(::symlink(bait.path().c_str(), path(link).c_str()), 0);
  }
  expect_all_removed();
  EXPECT_TRUE(bait.intact());
}

// As the user who owns them: root is kept out of nothing.
TEST_F(RemoveTree, RemovesWhatItsOwnerMayNotEvenEnter) {
  const auto build_and_remove = [&] {
    for (const mode_t mode : {0000U, 0100U, 0200U, 0400U, 0500U}) {
      const std::string top = path("tree/" + std::to_string(mode));
      std::filesystem::create_directories(top + "/x/y/z");
      write_file(top + "/f");
      write_file(top + "/x/y/z/f");
      for (const char* const inner : {"/x/y/z/f", "/x/y/z", "/x/y", "/x", ""}) {
        ASSERT_EQ(::chmod((top + inner).c_str(), mode), 0);
      }
    }
    const base::Fd top = open_directory(path("tree"));
    ASSERT_EQ(::chmod(path("tree").c_str(), 0), 0);
    const auto removed = empty_directory(top.get(), path("tree"), soon_enough());
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(entries_in(path("tree")), 0U);
  };
  make("tree");
  if (::geteuid() != 0) return build_and_remove();
  ASSERT_EQ(::chmod(path().c_str(), 0711), 0);
  ASSERT_EQ(::chown(path("tree").c_str(), 1234, 1234), 0);
  as_ordinary_user(1234, build_and_remove);
}

TEST_F(RemoveTree, RemovesManyFiles) {
  const int files = support::count_from("CORDON_SOAK_FILES", 2000);
  make("tree/many");
  for (int i = 0; i < files; ++i) {
    const std::string place = i % 2 == 0 ? "tree/" : "tree/many/";
    write_file(path(place + std::to_string(i)), "");
  }
  expect_all_removed(std::to_string(files) + " files");
}

TEST_F(RemoveTree, RemovesWhatNoPathReaches) {
  const int depth = support::count_from("CORDON_SOAK_DEPTH", 5000);
  make_deep(depth, std::string(200, 'd'));
  expect_all_removed(std::to_string(depth) + " levels");
}

TEST_F(RemoveTree, RemovesManyDirectoriesInEachOther) {
  for (int i = 0; i < 10; ++i) {
    for (int j = 0; j < 10; ++j) {
      make("tree/" + std::to_string(i) + "/" + std::to_string(j) + "/deeper/.cordon-" +
           std::to_string(j));
    }
  }
  write_file(path("tree/.cordon-0"));
  make("tree/.cordon-1/full");
  expect_all_removed();
}

TEST_F(RemoveTree, GivesUpInTimeAndNamesWhatIsLeft) {
  make_deep(50, "d");
  const SteppingClock clock(std::chrono::seconds(1));
  const auto removed = remove({clock, clock.now() + std::chrono::seconds(5)});
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, ErrorCode::timed_out);
  EXPECT_NE(removed.error().message.find("cleanup timeout: directory may leak: " + path("tree")),
            std::string::npos)
      << removed.error().message;
  expect_all_removed();
}

TEST_F(RemoveTree, StopsAtAMountAndSaysSo) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can mount");
  const Bait bait(path("bait"));
  make("tree/a/mount");
  write_file(path("tree/a/f"));
  // Out of sight of everybody else; gone with this process. A bind mount of the same file system,
  // so that a comparison of devices would not see it.
  ASSERT_EQ(::unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  for (const char* const place : {"tree/a/mount", "tree/mount"}) {
    make(place);
    ASSERT_EQ(::mount(bait.path().c_str(), path(place).c_str(), nullptr, MS_BIND, nullptr), 0);
    const auto removed = remove();
    ASSERT_FALSE(removed);
    EXPECT_NE(removed.error().message.find("mount"), std::string::npos);
    EXPECT_EQ(removed.error().os_error, EBUSY) << removed.error().message;
    EXPECT_TRUE(bait.intact());
    EXPECT_FALSE(std::filesystem::exists(path("tree/a/f"))) << "the rest is gone";
    // Wherever it is now.
    ASSERT_EQ(::umount2(path(place).c_str(), MNT_DETACH), 0);
    expect_all_removed();
  }
}

TEST_F(RemoveTree, NamesWhatIsImmutable) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can make a file immutable");
  make("tree/a");
  write_file(path("tree/a/f"));
  write_file(path("tree/g"));
  const base::Fd file(::open(path("tree/a/f").c_str(), O_RDONLY | O_CLOEXEC));
  int flags = FS_IMMUTABLE_FL;
  if (::ioctl(file.get(), FS_IOC_SETFLAGS, &flags) != 0) {
    GTEST_SKIP() << "this file system has no immutable files";
  }
  const auto removed = remove();
  flags = 0;
  ASSERT_EQ(::ioctl(file.get(), FS_IOC_SETFLAGS, &flags), 0);
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().os_error, EPERM);
  EXPECT_EQ(removed.error().message, "cannot remove the work directory " + path("tree") +
                                         ", because of " + path("tree/a/f") +
                                         ": Operation not permitted");
  EXPECT_FALSE(std::filesystem::exists(path("tree/g"))) << "the rest is gone";
}

}  // namespace
}  // namespace cordon::workdir
