#include "backend/linux/cgroup_names.h"

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace cordon::linux_backend {
namespace {

TEST(CgroupNames, NameTellsItsOwner) {
  const CgroupOwner owner{4026531836, 4026531834, 77, 123456};
  EXPECT_EQ(owner_of(cgroup_name(owner, 9)), owner);
}

TEST(CgroupNames, OtherPeoplesNamesHaveNoOwner) {
  for (const auto* const name : {"", "run-", "cordon", "run-1-2-3-4", "run-1-2-3-4-5-6",
                                 "run-1-2-3-x-5", "run-1-2--4-5", "user.slice", "run-1-2-3-4-"}) {
    EXPECT_EQ(owner_of(name), std::nullopt) << name;
  }
}

TEST(CgroupNames, EachNameIsNew) {
  CgroupNames names;
  EXPECT_NE(names.next(), names.next());
}

TEST(CgroupNames, StatOfAnOddlyNamedProgramIsRead) {
  const auto stat = parse_proc_stat(
      "12 (a) b (c)) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 98765 1000 2\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->threads, 3U);
  EXPECT_EQ(stat->start, 98765U);
  EXPECT_EQ(parse_proc_stat("12 (a) S 1"), std::nullopt);
  EXPECT_EQ(parse_proc_stat(""), std::nullopt);
}

class CgroupOwnerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto self = this_owner();
    ASSERT_TRUE(self);
    self_ = *self;
  }
  CgroupOwner self_;
};

TEST_F(CgroupOwnerTest, ThisProcessIsAlive) { EXPECT_FALSE(is_dead(self_, self_)); }

TEST_F(CgroupOwnerTest, PidWithAnotherStartTimeIsDead) {
  auto former = self_;
  --former.start;
  EXPECT_TRUE(is_dead(former, self_));
}

TEST_F(CgroupOwnerTest, OwnersOfOtherNamespacesAreNotJudged) {
  auto other = self_;
  --other.start;
  ++other.pid_namespace;
  EXPECT_FALSE(is_dead(other, self_));
  other.pid_namespace = self_.pid_namespace;
  ++other.time_namespace;
  EXPECT_FALSE(is_dead(other, self_));
}

TEST_F(CgroupOwnerTest, EndedProcessIsDeadReapedOrNot) {
  const char* const args[] = {"true", nullptr};
  pid_t pid = 0;
  ASSERT_EQ(
      ::posix_spawn(&pid, "/bin/true", nullptr, nullptr, const_cast<char* const*>(args), nullptr),
      0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
  // Its start time is not known here: only the state of a zombie with the right one counts.
  auto owner = self_;
  owner.pid = static_cast<std::uint64_t>(pid);
  EXPECT_TRUE(is_dead(owner, self_));
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
  EXPECT_TRUE(is_dead(owner, self_));
}

}  // namespace
}  // namespace cordon::linux_backend
