#include "backend/linux/tree_sampler.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <functional>

namespace cordon::linux_backend {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ProcessStat, IsReadPastAnyName) {
  const auto stat = parse_process_stat(
      "42 (a) R 1 (b)) S 7 42 42 0 -1 4194304 100 200 0 0 11 12 13 14 20 0 3 0 5555 1000 200 "
      "18446744073709551615 1 1\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, 7U);
  EXPECT_EQ(stat->user, 11U);
  EXPECT_EQ(stat->system, 12U);
  EXPECT_EQ(stat->children_user, 13U);
  EXPECT_EQ(stat->children_system, 14U);
  EXPECT_EQ(stat->threads, 3U);
  EXPECT_EQ(stat->start, 5555U);
}

TEST(ProcessStat, ThatIsCutShortIsNoStat) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("42 (a"));
  EXPECT_FALSE(parse_process_stat("42 (a)"));
  EXPECT_FALSE(parse_process_stat("42 (a) S 7 42 42 0 -1 4194304"));
}

TEST(ResidentPages, AreTheSecondNumber) {
  EXPECT_EQ(parse_resident_pages("100 25 3 4 0 5 0\n"), 25U);
  EXPECT_FALSE(parse_resident_pages("100"));
  EXPECT_FALSE(parse_resident_pages(""));
}

TEST(Kilobytes, AreFoundByTheirWholeName) {
  const char* const text =
      "5570-7ffc ---p 00000000 00:00 0   [rollup]\nPss_Anon:  7 kB\nPss:      12 kB\n";
  EXPECT_EQ(parse_kilobytes(text, "Pss"), 12U * 1024);
  EXPECT_EQ(parse_kilobytes(text, "Pss_Anon"), 7U * 1024);
  EXPECT_FALSE(parse_kilobytes(text, "Rss"));
  EXPECT_FALSE(parse_kilobytes("Pss: many\n", "Pss"));
}

TEST(Children, AreAListOfNumbers) {
  EXPECT_THAT(parse_children("12 345 6 "), ElementsAre(12, 345, 6));
  EXPECT_THAT(parse_children(""), IsEmpty());
}

// A child of the test with children of its own, which do `work` and then wait to be killed.
class Family {
 public:
  Family(int children, const std::function<void()>& work) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    leader_ = ::fork();
    if (leader_ == 0) {
      ::setpgid(0, 0);
      for (int i = 0; i < children; ++i) {
        if (::fork() != 0) continue;
        work();
        (void)!::write(ready[1], "", 1);
        for (;;) ::pause();
      }
      for (;;) ::pause();
    }
    ::setpgid(leader_, leader_);
    char byte = 0;
    for (int i = 0; i < children; ++i) (void)!::read(ready[0], &byte, 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~Family() {
    ::kill(-leader_, SIGKILL);
    ::waitpid(leader_, nullptr, 0);
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  [[nodiscard]] pid_t leader() const { return leader_; }

 private:
  pid_t leader_ = -1;
};

// The thread sanitizer has one of its own in each process, and makes a look take milliseconds.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CORDON_THREAD_SANITIZER 1
#endif
#endif
#ifdef CORDON_THREAD_SANITIZER
constexpr std::uint64_t kThreadsOfEach = 2;
#else
constexpr std::uint64_t kThreadsOfEach = 1;
#endif

// Stands for the sandbox's init, which has no children in these tests.
constexpr pid_t kNoInit = -1;
constexpr std::size_t kSize = 32 << 20;

void fill(int flags) {
  void* memory = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  std::memset(memory, 1, kSize);
}

TEST(TreeSampler, CountsProcessesAndMemoryOfTheWholeTree) {
  const Family family(3, [] { fill(MAP_PRIVATE); });
  for (const bool children_files : {true, false}) {
    TreeSampler sampler(kNoInit, family.leader(), 0, children_files);
    const TreeUsage& seen = sampler.look();
    EXPECT_EQ(seen.processes, 4 * kThreadsOfEach);
    EXPECT_GE(seen.memory_bytes, 3 * kSize);
    EXPECT_EQ(sampler.memory_peak(), seen.memory_bytes);
  }
}

TEST(TreeSampler, CountsSharedMemoryOnceWhenItMatters) {
  static void* shared = nullptr;
  shared = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  {
    const Family family(3, [] { std::memset(shared, 1, kSize); });
    TreeSampler quick(kNoInit, family.leader(), 0);
    const std::uint64_t resident = quick.look().memory_bytes;
    EXPECT_GE(resident, 3 * kSize);
    TreeSampler exact(kNoInit, family.leader(), kSize);
    EXPECT_GE(exact.look().memory_bytes, kSize);
    EXPECT_LT(exact.look().memory_bytes, resident - kSize);
  }
  ::munmap(shared, kSize);
}

TEST(TreeSampler, CountsTheProcessorTimeOfChildrenNobodyHasWaitedFor) {
  const Family family(2, [] {
    while (std::clock() < CLOCKS_PER_SEC / 10) {
    }
  });
  TreeSampler sampler(kNoInit, family.leader(), 0);
  EXPECT_GE(sampler.look().cpu(), 180ms);
}

TEST(TreeSampler, RemembersTheProcessorTimeOfThoseThatHaveEnded) {
  auto family = std::make_unique<Family>(2, [] {
    while (std::clock() < CLOCKS_PER_SEC / 10) {
    }
  });
  TreeSampler sampler(kNoInit, family->leader(), 0);
  const Duration before = sampler.look().cpu();
  family.reset();
  const TreeUsage& after = sampler.look();
  EXPECT_EQ(after.processes, 0U);
  EXPECT_EQ(after.memory_bytes, 0U);
  EXPECT_GE(after.cpu(), before);
  EXPECT_EQ(sampler.processes_peak(), 3 * kThreadsOfEach);
}

TEST(TreeSampler, LooksMoreOftenNearTheLimit) {
  if (kThreadsOfEach > 1) GTEST_SKIP() << "thread sanitizer: a look costs more than a pause";
  const Family family(1, [] { fill(MAP_PRIVATE); });
  TreeSampler near(kNoInit, family.leader(), kSize + (4 << 20));
  TreeSampler far(kNoInit, family.leader(), std::uint64_t{100} << 30);
  // On a busy machine a look may take so long that its cost alone decides.
  constexpr int kMostLooks = 100;
  for (int i = 0; i < kMostLooks && (i == 0 || near.pause() >= far.pause()); ++i) {
    near.look();
    far.look();
  }
  EXPECT_LT(near.pause(), far.pause());
  EXPECT_GE(near.pause(), 2ms);
  EXPECT_GE(far.pause(), 50ms);
}

}  // namespace
}  // namespace cordon::linux_backend
