#include "backend/linux/cgroup_table.h"

#include <gtest/gtest.h>

namespace cordon::linux_backend {
namespace {

constexpr auto kHybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw shared:1 master:2 - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,xattr,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

TEST(CgroupTable, HybridHasBothKinds) {
  const auto mounts = parse_mountinfo(kHybrid);
  ASSERT_EQ(mounts.size(), 4U);
  const auto* const memory = mount_for(mounts, "memory", "/a");
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(memory->point, "/sys/fs/cgroup/memory");
  EXPECT_FALSE(memory->v2);
  EXPECT_EQ(mount_for(mounts, "cpu", "/"), mount_for(mounts, "cpuacct", "/"));
  const auto* const v2 = mount_for(mounts, "", "/");
  ASSERT_NE(v2, nullptr);
  EXPECT_EQ(v2->point, "/sys/fs/cgroup/unified");
  EXPECT_EQ(mount_for(mounts, "pids", "/"), nullptr);
}

TEST(CgroupTable, PureV2IsOneMountOfNoController) {
  const auto mounts = parse_mountinfo(
      "25 22 0:23 / /sys/fs/cgroup rw,nosuid,nodev - cgroup2 cgroup2 rw,memory_recursiveprot\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_TRUE(mounts[0].v2);
  EXPECT_TRUE(mounts[0].controllers.empty());
  EXPECT_EQ(mount_for(mounts, "memory", "/"), nullptr);
}

TEST(CgroupTable, EscapedMountPointIsReadAsItIs) {
  const auto mounts = parse_mountinfo("1 2 0:3 / /a\\040b\\134c rw - cgroup2 none rw\n");
  ASSERT_EQ(mounts.size(), 1U);
  EXPECT_EQ(mounts[0].point, "/a b\\c");
}

TEST(CgroupTable, ContainerShowsItsGroupAsTheTop) {
  const auto mounts = parse_mountinfo(
      "9 8 0:32 /docker/ab12 /sys/fs/cgroup/memory ro,nosuid master:15 - cgroup cgroup "
      "rw,memory\n");
  const auto* const mount = mount_for(mounts, "memory", "/docker/ab12/sub");
  ASSERT_NE(mount, nullptr);
  EXPECT_TRUE(mount->read_only);
  EXPECT_EQ(below(mount->root, "/docker/ab12/sub"), "sub");
  EXPECT_EQ(below(mount->root, "/docker/ab12"), "");
  EXPECT_EQ(full_path(mount->root, "sub"), "/docker/ab12/sub");
}

TEST(CgroupTable, GroupOutsideTheMountIsNotBelowIt) {
  EXPECT_EQ(below("/docker/ab", "/docker/abc"), std::nullopt);
  EXPECT_EQ(below("/docker/ab", "/other"), std::nullopt);
  EXPECT_EQ(below("/", "/../../init.scope"), std::nullopt);
  EXPECT_EQ(below("/..", "/"), std::nullopt);
  EXPECT_EQ(below("/", "/a/b"), "a/b");
  EXPECT_EQ(below("/", "/"), "");
  EXPECT_EQ(full_path("/", "a"), "/a");
  EXPECT_EQ(full_path("/", ""), "/");
}

TEST(CgroupTable, MountThatShowsTheGroupAndIsWritableIsPreferred) {
  const auto mounts = parse_mountinfo(
      "1 1 0:1 /other /one rw - cgroup2 none rw\n"
      "2 1 0:1 / /two ro - cgroup2 none rw\n"
      "3 1 0:1 / /three rw - cgroup2 none rw\n");
  EXPECT_EQ(mount_for(mounts, "", "/mine")->point, "/three");
}

TEST(CgroupTable, OwnGroupIsFoundInEachHierarchy) {
  constexpr auto kText =
      "9:name=systemd:/s\n8:pids:/\n4:memory:/jobs/a:b\n2:cpu,cpuacct:/c\n0::/unified/x\n";
  EXPECT_EQ(group_of(kText, "memory"), "/jobs/a:b");
  EXPECT_EQ(group_of(kText, "cpuacct"), "/c");
  EXPECT_EQ(group_of(kText, "cpu"), "/c");
  EXPECT_EQ(group_of(kText, "pids"), "/");
  EXPECT_EQ(group_of(kText, ""), "/unified/x");
  EXPECT_EQ(group_of(kText, "cpuset"), std::nullopt);
  EXPECT_EQ(group_of("8:pids:/\n", ""), std::nullopt);
}

TEST(CgroupTable, TornTextIsNoCrash) {
  EXPECT_TRUE(parse_mountinfo("1 2\n\n - cgroup\n").size() <= 1);
  EXPECT_EQ(group_of("8\n:\n::", "pids"), std::nullopt);
}

}  // namespace
}  // namespace cordon::linux_backend
