#include "backend/linux/cgroup.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

#include "backend/linux/cgroup_names.h"
#include "backend/linux/cgroup_test_support.h"
#include "backend/linux/cgroup_v1.h"

namespace cordon::linux_backend {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMiB = 1024 * 1024;

// Exits with 0 once a fork was refused.
int fork_until_refused() {
  for (int count = 0; count < 50; ++count) {
    const pid_t pid = ::fork();
    if (pid < 0) return errno == EAGAIN ? 0 : 2;
    if (pid == 0) {
      ::alarm(20);
      ::_exit(::pause());
    }
  }
  return 1;
}

bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

void quieten(Cgroup& group) {
  for (int i = 0; i < 20 && readable(group.event_fd(), 30); ++i) (void)group.acknowledge();
}

TEST_F(CgroupTest, MemoryLimitKillsAndIsCounted) {
  const auto group = make({.memory_bytes = 16 * kMiB});
  ASSERT_GE(group->event_fd(), 0);
  EXPECT_FALSE(readable(group->event_fd(), 0));
  const int status = status_of(start(group.get(), [] { return touch(64 * kMiB); }));
  ASSERT_TRUE(was_killed(status)) << status;
  EXPECT_TRUE(readable(group->event_fd(), 5000));
  const auto usage = group->usage();
  // v2 counts the victim once more as a part of its group.
  EXPECT_GE(usage.oom_kills, 1U) << group->oom_counter();
  EXPECT_LE(usage.oom_kills, parent_->version() == plan::CgroupVersion::v2 ? 2U : 1U);
  EXPECT_EQ(usage.forks_refused, 0U);
  if (usage.memory_peak_bytes) {
    EXPECT_LE(*usage.memory_peak_bytes, 16 * kMiB);
    EXPECT_GE(*usage.memory_peak_bytes, 12 * kMiB);
  }
  quieten(*group);
  EXPECT_FALSE(readable(group->event_fd(), 0));
}

TEST_F(CgroupTest, MemoryInUseIsToldWithItsAnonymousPart) {
  const auto group = make();
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  start(group.get(), [&] {
    (void)touch(8 * kMiB);
    (void)!::write(ends[1], "!", 1);
    return ::pause();
  });
  char ready = 0;
  ASSERT_EQ(::read(ends[0], &ready, 1), 1);
  const auto all = group->memory_bytes();
  const auto parts = group->memory_parts();
  ASSERT_TRUE(all && parts);
  EXPECT_GE(*all, 8 * kMiB);
  EXPECT_LE(*all, 32 * kMiB);
  // The kernel adds the counters of this one up only now and then.
  EXPECT_LE(parts->anonymous_bytes, 32 * kMiB);
  EXPECT_LE(parts->cache_bytes, 32 * kMiB);
  EXPECT_EQ(group->usage().oom_kills, 0U);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(CgroupTest, ProcessLimitRefusesForkAndIsCounted) {
  const auto group = make({.processes = 4, .tell_of_refusals = true});
  ASSERT_GE(group->event_fd(), 0);
  const int status = status_of(start(group.get(), fork_until_refused));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  if (parent_->version() == plan::CgroupVersion::v2) {
    EXPECT_TRUE(readable(group->event_fd(), 5000));
  }
  const auto usage = group->usage();
  EXPECT_GE(usage.forks_refused, 1U);
  EXPECT_EQ(usage.oom_kills, 0U);
  EXPECT_LE(usage.processes_peak.value_or(4), 4U);
}

TEST_F(CgroupTest, SecondRefusalIsAnEventAgain) {
  const auto group = make({.processes = 1, .tell_of_refusals = true});
  for (int round = 0; round < 2; ++round) {
    (void)status_of(start(group.get(), fork_until_refused));
    EXPECT_TRUE(readable(group->event_fd(), 5000)) << round;
    quieten(*group);
  }
  EXPECT_EQ(group->usage().forks_refused, 2U);
}

TEST_F(CgroupTest, KillDoesNotCountAsARefusedFork) {
  const auto group = make({.processes = 100});
  start(group.get(), []() -> int {
    while (true) {
      const pid_t pid = ::fork();
      if (pid == 0) ::_exit(0);
      if (pid > 0) ::waitpid(pid, nullptr, 0);
    }
  });
  group->kill();
  EXPECT_EQ(group->usage().forks_refused, 0U);
}

TEST_F(CgroupTest, CpuShareIsSetAsQuotaOfAPeriod) {
  const auto group = make({.cpu_millicores = 250});
  const auto text = cgroup_text(start_idle(group.get()));
  if (parent_->version() == plan::CgroupVersion::v2) {
    EXPECT_EQ(text_of(directory_of(text, "") + "/cpu.max"), "25000 100000\n");
  } else {
    const std::string directory = directory_of(text, "cpu");
    EXPECT_EQ(text_of(directory + "/cpu.cfs_quota_us"), "25000\n");
    EXPECT_EQ(text_of(directory + "/cpu.cfs_period_us"), "100000\n");
  }
}

TEST_F(CgroupTest, CpuTimeOfEndedProcessesIsCounted) {
  const auto group = make();
  (void)status_of(start(group.get(), [] {
    timespec used{};
    do {
      ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_nsec < 50'000'000 && used.tv_sec == 0);
    return 0;
  }));
  ASSERT_TRUE(group->cpu_time());
  EXPECT_GE(*group->cpu_time(), 45ms);
  EXPECT_LE(*group->cpu_time(), 5s);
  const auto usage = group->usage();
  ASSERT_TRUE(usage.cpu_user && usage.cpu_system);
  EXPECT_GE(*usage.cpu_user + *usage.cpu_system, 45ms);
}

TEST_F(CgroupTest, ContainsTellsWhoIsInside) {
  const auto group = make({.cpu_millicores = 1000});
  const auto other = make();
  const pid_t inside = start_idle(group.get());
  EXPECT_TRUE(group->contains(cgroup_text(inside)));
  EXPECT_FALSE(other->contains(cgroup_text(inside)));
  EXPECT_FALSE(group->contains(cgroup_text(::getpid())));
  EXPECT_FALSE(group->contains(""));
}

TEST_F(CgroupTest, KillEndsEveryoneInsideAndNobodyElse) {
  const auto group = make();
  const pid_t outside = start_idle(nullptr);
  std::vector<pid_t> inside;
  inside.reserve(3);
  for (int i = 0; i < 3; ++i) {
    inside.push_back(start(group.get(), [] {
      ::signal(SIGTERM, SIG_IGN);
      ::setsid();
      return ::pause();
    }));
  }
  group->kill();
  for (const pid_t pid : inside) {
    const int status = status_of(pid);
    EXPECT_TRUE(was_killed(status)) << status;
  }
  EXPECT_EQ(::waitpid(outside, nullptr, WNOHANG), 0);
}

TEST_F(CgroupTest, KillOutrunsAForkBomb) {
  const auto group = make({.processes = 60});
  const pid_t bomb = start(group.get(), []() -> int {
    while (true) (void)!::fork();
  });
  std::this_thread::sleep_for(20ms);
  group->kill();
  EXPECT_TRUE(was_killed(status_of(bomb)));
}

TEST_F(CgroupTest, ThrottledRunEndsAtOnceWhenKilled) {
  const auto group = make({.cpu_millicores = 2});
  const pid_t busy = start(group.get(), []() -> int {
    while (true) (void)::getppid();
  });
  std::this_thread::sleep_for(20ms);
  const auto before = std::chrono::steady_clock::now();
  group->kill();
  EXPECT_TRUE(was_killed(status_of(busy)));
  EXPECT_LT(std::chrono::steady_clock::now() - before, 500ms);
}

TEST_F(CgroupTest, DestructionEndsAndRemovesOnAnyThread) {
  auto group = make({.cpu_millicores = 1000});
  const pid_t inside = start_idle(group.get());
  const auto text = cgroup_text(inside);
  std::vector<std::string> directories;
  for (const auto* const controller : {"memory", "pids", "cpu", "cpuacct"}) {
    directories.push_back(directory_of(text, controller));
    EXPECT_TRUE(is_directory(directories.back())) << directories.back();
  }
  std::thread([&] { group.reset(); }).join();
  for (const auto& directory : directories) EXPECT_FALSE(is_directory(directory)) << directory;
  EXPECT_TRUE(was_killed(status_of(inside)));
}

TEST_F(CgroupTest, GroupsBelowTheRunsAreRemovedWithIt) {
  auto group = make();
  const auto directory = directory_of(cgroup_text(start_idle(group.get())), "memory");
  ASSERT_EQ(::mkdir((directory + "/below").c_str(), 0755), 0);
  ASSERT_EQ(::mkdir((directory + "/below/more").c_str(), 0755), 0);
  group.reset();
  EXPECT_FALSE(is_directory(directory));
}

TEST_F(CgroupTest, GroupOutlivesItsParentObject) {
  auto group = make();
  const auto directory = directory_of(cgroup_text(start_idle(group.get())), "memory");
  parent_.reset();
  EXPECT_TRUE(group->memory_bytes());
  group.reset();
  EXPECT_FALSE(is_directory(directory));
}

TEST_F(CgroupTest, TwoParentsOfOneProcessDoNotCollide) {
  auto second = open_cgroup_parent("");
  ASSERT_TRUE(second);
  std::vector<std::unique_ptr<Cgroup>> groups;
  for (int i = 0; i < 5; ++i) {
    groups.push_back(make());
    auto other = (*second)->make({});
    ASSERT_TRUE(other) << other.error().message;
    groups.push_back(std::move(*other));
  }
}

TEST_F(CgroupTest, SweepRemovesGroupsOfTheDeadOnly) {
  // A parent of its own, where it can be had: another run of this test sweeps the common one.
  const std::string top = "cordon-test-sweep-" + std::to_string(::getpid());
  if (::geteuid() == 0) {
    auto own = open_cgroup_parent(top);
    ASSERT_TRUE(own) << own.error().message;
    parent_ = std::move(*own);
  }
  auto live = make();
  const auto live_directory = directory_of(cgroup_text(start_idle(live.get())), "memory");
  const auto self = this_owner();
  ASSERT_TRUE(self);
  auto dead = *self;
  const pid_t ended = start(nullptr, [] { return 0; });
  (void)status_of(ended);
  dead.pid = static_cast<std::uint64_t>(ended);
  auto foreign = dead;
  ++foreign.pid_namespace;
  const std::string dead_directory = parent_->path() + "/" + cgroup_name(dead, 1);
  const std::string foreign_directory = parent_->path() + "/" + cgroup_name(foreign, 1);
  ASSERT_EQ(::mkdir(dead_directory.c_str(), 0755), 0);
  ASSERT_EQ(::mkdir(foreign_directory.c_str(), 0755), 0);
  const pid_t orphan = start_idle(nullptr);
  std::ofstream(dead_directory + "/cgroup.procs") << orphan << std::flush;

  EXPECT_GE(parent_->sweep(), 1U);
  EXPECT_FALSE(is_directory(dead_directory));
  EXPECT_TRUE(was_killed(status_of(orphan)));
  EXPECT_TRUE(is_directory(live_directory));
  EXPECT_TRUE(is_directory(foreign_directory));
  ::rmdir(foreign_directory.c_str());
  live.reset();
  parent_.reset();
  for (const auto& mount : parse_mountinfo(text_of("/proc/self/mountinfo"))) {
    ::rmdir((mount.point + "/" + top).c_str());
  }
}

TEST_F(CgroupTest, UnwritableParentIsAClearError) {
  if (::geteuid() != 0) GTEST_SKIP() << "cgroup: needs root, to become a user without rights";
  const auto first = parent_->make({});  // was made when the parent was opened
  ASSERT_EQ(::seteuid(65534), 0);
  const auto refused = parent_->make({});
  const auto unopened = open_cgroup_parent("cordon-not-ours");
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
  EXPECT_NE(refused.error().message.find(parent_->path()), std::string::npos);
  EXPECT_NE(refused.error().message.find("Permission denied; give"), std::string::npos)
      << refused.error().message;
  ASSERT_FALSE(unopened);
  EXPECT_EQ(unopened.error().code, ErrorCode::unsupported);
  EXPECT_NE(unopened.error().message.find("cordon-not-ours: Permission denied"), std::string::npos)
      << unopened.error().message;
}

TEST_F(CgroupTest, NamedParentIsMadeAndUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "cgroup: needs root, to make a group at the top";
  const std::string top = "cordon-test-" + std::to_string(::getpid());
  {
    auto named = open_cgroup_parent("/" + top + "//sub/");
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_TRUE((*named)->memory().works) << (*named)->memory().why;
    EXPECT_TRUE((*named)->path().ends_with("/" + top + "/sub")) << (*named)->path();
    auto group = (*named)->make({.memory_bytes = 64 * kMiB, .processes = 5, .cpu_millicores = 5});
    ASSERT_TRUE(group) << group.error().message;
    const pid_t inside = start_idle(group->get());
    EXPECT_TRUE((*group)->contains(cgroup_text(inside)));
  }
  for (const auto& mount : parse_mountinfo(text_of("/proc/self/mountinfo"))) {
    ::rmdir((mount.point + "/" + top + "/sub").c_str());
    ::rmdir((mount.point + "/" + top).c_str());
    EXPECT_FALSE(is_directory(mount.point + "/" + top));
  }
}

TEST_F(CgroupTest, LimitThatTheKernelRefusesNamesFileAndValue) {
  if (parent_->version() != plan::CgroupVersion::v1) {
    GTEST_SKIP() << "cgroup v2: the kernel takes more than the group above has";
  }
  if (::geteuid() != 0) GTEST_SKIP() << "cgroup: needs root, to make a group at the top";
  const std::string top = "cordon-test-quota-" + std::to_string(::getpid());
  const auto mounts = parse_mountinfo(text_of("/proc/self/mountinfo"));
  {
    auto named = open_cgroup_parent(top);
    ASSERT_TRUE(named) << named.error().message;
    const std::string quota =
        mount_for(mounts, "cpu", "/")->point + "/" + top + "/cpu.cfs_quota_us";
    std::ofstream(quota) << "10000" << std::flush;
    const auto refused = (*named)->make({.cpu_millicores = 500});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::limit_not_applied);
    EXPECT_EQ(refused.error().stage, "limit:cpu");
    EXPECT_EQ(refused.error().os_error, EINVAL);
    const auto& message = refused.error().message;
    EXPECT_NE(message.find("writing \"50000\" to "), std::string::npos) << message;
    EXPECT_NE(message.find("/cpu.cfs_quota_us: Invalid argument; choose"), std::string::npos);
  }
  for (const auto& mount : mounts) {
    ::rmdir((mount.point + "/" + top).c_str());
    EXPECT_FALSE(is_directory(mount.point + "/" + top)) << "a group was left behind";
  }
}

TEST_F(CgroupTest, MissingHierarchyTakesOnlyItsOwnLimitAway) {
  if (parent_->version() != plan::CgroupVersion::v1) GTEST_SKIP() << "cgroup v2: has only one";
  auto mounts = parse_mountinfo(text_of("/proc/self/mountinfo"));
  std::erase_if(mounts, [](const CgroupMount& mount) {
    return std::ranges::find(mount.controllers, "pids") != mount.controllers.end();
  });
  auto parent = open_cgroup_v1(mounts, text_of("/proc/self/cgroup"), "");
  ASSERT_TRUE(parent) << parent.error().message;
  EXPECT_FALSE((*parent)->pids().works);
  EXPECT_NE((*parent)->pids().why, "");
  EXPECT_NE((*parent)->pids().fix, "");
  EXPECT_TRUE((*parent)->memory().works);
  EXPECT_TRUE((*parent)->make({.memory_bytes = 64 * kMiB}));
  const auto refused = (*parent)->make({.processes = 5});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::limit_not_applied);
  EXPECT_EQ(refused.error().stage, "limit:pids");
}

TEST(CgroupParent, NameThatLeadsOutIsRefused) {
  for (const auto* const name : {"../x", "a/../../b", "/"}) {
    const auto parent = open_cgroup_parent(name);
    ASSERT_FALSE(parent) << name;
    EXPECT_EQ(parent.error().code, ErrorCode::invalid_argument);
  }
}

}  // namespace
}  // namespace cordon::linux_backend
