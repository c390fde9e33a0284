// Groups of programs below that of their sandbox.
#include "backend/linux/cgroup_test_support.h"

namespace cordon::linux_backend {
namespace {

class InnerGroupsTest : public CgroupTest {
 protected:
  void SetUp() override {
    CgroupTest::SetUp();
    if (IsSkipped()) return;
    outer_ = parent_->make(true).value();
    auto divided = outer_->subdivide();
    ASSERT_TRUE(divided) << divided.error().message;
    inner_ = std::move(*divided);
  }
  std::unique_ptr<Cgroup> make_inner() {
    auto made = inner_->make();
    EXPECT_TRUE(made) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
  // In a group inside another nobody is cloned: it is joined.
  pid_t start_inside(const Cgroup& group) {
    const std::vector<int> all[] = {group.join_fds(), group.join_each_fds()};
    return start(nullptr, [&] {
      for (const auto& fds : all) {
        for (const int fd : fds) {
          if (::write(fd, "0", 1) != 1) ::_exit(99);
        }
      }
      return ::pause();
    });
  }

  std::unique_ptr<Cgroup> outer_;
  std::unique_ptr<InnerGroups> inner_;
};

TEST_F(InnerGroupsTest, EachEndsAlone) {
  const auto one = make_inner();
  const auto other = make_inner();
  const pid_t first = start_inside(*one);
  const pid_t second = start_inside(*other);
  const pid_t outside = start_idle(outer_.get());
  for (int i = 0; i < 1000 && !other->contains(cgroup_text(second)); ++i) ::usleep(1000);
  for (int i = 0; i < 1000 && !one->contains(cgroup_text(first)); ++i) ::usleep(1000);
  EXPECT_TRUE(one->contains(cgroup_text(first)));
  EXPECT_TRUE(outer_->contains(cgroup_text(outside)));
  EXPECT_FALSE(other->contains(cgroup_text(first)));
  one->kill();
  EXPECT_TRUE(WIFSIGNALED(status_of(first)));
  EXPECT_EQ(::kill(second, 0), 0);
  EXPECT_EQ(::waitpid(second, nullptr, WNOHANG), 0);
  EXPECT_EQ(::waitpid(outside, nullptr, WNOHANG), 0);
  outer_->kill();
  EXPECT_TRUE(WIFSIGNALED(status_of(second)));
  EXPECT_TRUE(WIFSIGNALED(status_of(outside)));
}

TEST_F(InnerGroupsTest, LimitsOfBothHold) {
  ASSERT_TRUE(outer_->set({.processes = 3}));
  const auto group = make_inner();
  ASSERT_TRUE(group->set({.memory_bytes = 32 << 20, .processes = 1, .cpu_millicores = 500}));
  const auto wide = make_inner();
  ASSERT_TRUE(wide->set({.processes = 100}));
  const std::vector<int> all[] = {wide->join_fds(), wide->join_each_fds()};
  const pid_t forks = start(nullptr, [&] {
    for (const auto& fds : all) {
      for (const int fd : fds) {
        if (::write(fd, "0", 1) != 1) ::_exit(99);
      }
    }
    int made = 0;
    while (made < 10) {
      const pid_t child = ::fork();
      if (child < 0) break;
      if (child == 0) ::pause();
      ++made;
    }
    return made;
  });
  const int status = status_of(forks);
  EXPECT_EQ(WEXITSTATUS(status), 2) << "three with itself";
  wide->kill();
}

TEST_F(InnerGroupsTest, GoWithTheOuterOne) {
  const auto group = make_inner();
  const pid_t pid = start_inside(*group);
  for (int i = 0; i < 1000 && !group->contains(cgroup_text(pid)); ++i) ::usleep(1000);
  const std::string path = directory_of(cgroup_text(pid), "memory");
  ASSERT_TRUE(is_directory(path)) << path;
  outer_.reset();
  EXPECT_TRUE(WIFSIGNALED(status_of(pid)));
  EXPECT_FALSE(is_directory(path)) << path;
}

}  // namespace
}  // namespace cordon::linux_backend
