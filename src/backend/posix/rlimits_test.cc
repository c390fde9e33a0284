#include "backend/posix/rlimits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

namespace cordon::posix {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

struct Setting {
  std::string_view name;
  std::uint64_t soft;
  std::uint64_t hard;

  friend bool operator==(const Setting&, const Setting&) = default;
  friend void PrintTo(const Setting& s, std::ostream* out) {
    *out << s.name << " " << s.soft << "/" << s.hard;
  }
};

std::vector<Setting> settings(const Limits& limits) {
  std::array<RlimitSetting, kMaxRlimits> all{};
  const std::size_t count = rlimits_for(limits, all);
  std::vector<Setting> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back({limit_name(all[i].resource), all[i].soft, all[i].hard});
  }
  return result;
}

std::uint64_t own_hard(__rlimit_resource resource) {
  rlimit own{};
  EXPECT_EQ(::getrlimit(resource, &own), 0);
  return own.rlim_max;
}

TEST(RlimitsTest, AsksForNothingByDefault) { EXPECT_THAT(settings({}), IsEmpty()); }

TEST(RlimitsTest, SetsEachLimitThatIsAsked) {  // C16 C19
  const auto all = settings({.cpu_time = 3s,
                             .memory_bytes = 1 << 20,
                             .file_size_bytes = 4096,
                             .open_files = 20,
                             .processes = 5});
  EXPECT_THAT(all, ElementsAre(Setting{"cpu_time", 3, 4}, Setting{"memory", 1 << 20, 1 << 20},
                               Setting{"file_size", 4096, 4096}, Setting{"open_files", 20, 20},
                               Setting{"processes", 5, 5}));
  EXPECT_LE(all.size(), kMaxRlimits);
}

TEST(RlimitsTest, NeverLimitsAddressSpace) {  // runtimes reserve plenty of it
  std::array<RlimitSetting, kMaxRlimits> all{};
  ASSERT_EQ(rlimits_for({.memory_bytes = 50 << 20}, all), 1U);
  EXPECT_NE(all[0].resource, RLIMIT_AS);
}

TEST(RlimitsTest, ProcessorTimeIsRoundedUpToWholeSeconds) {
  const std::pair<Duration, std::uint64_t> expected[] = {
      {1ns, 1}, {1ms, 1}, {999ms, 1}, {1s, 1}, {1s + 1ns, 2}, {1500ms, 2}, {2s, 2}, {60s, 60},
  };
  for (const auto& [asked, seconds] : expected) {
    EXPECT_THAT(settings({.cpu_time = asked}),
                ElementsAre(Setting{"cpu_time", seconds, seconds + 1}))
        << asked.count();
  }
}

TEST(RlimitsTest, LongestProcessorTimeDoesNotOverflow) {
  const auto all = settings({.cpu_time = Duration::max()});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GT(all[0].soft, 9'000'000'000U);
  EXPECT_GE(all[0].hard, all[0].soft);
}

TEST(RlimitsTest, NeverAboveTheCallersOwnHardLimit) {
  const std::uint64_t own = own_hard(RLIMIT_NOFILE);
  if (own == RLIM_INFINITY) GTEST_SKIP() << "needs a caller with a limit on open files";
  EXPECT_THAT(settings({.open_files = own + 1}), ElementsAre(Setting{"open_files", own, own}));
  EXPECT_THAT(settings({.open_files = std::uint64_t{std::numeric_limits<std::int64_t>::max()}}),
              ElementsAre(Setting{"open_files", own, own}));
  EXPECT_THAT(settings({.open_files = own}), ElementsAre(Setting{"open_files", own, own}));
}

TEST(RlimitsTest, FollowsTheCallersHardLimitWhenItIsLowered) {
  // For good, so in a child: the other tests want the limits they came with.
  const auto check = [] {
    const rlimit low{.rlim_cur = 1, .rlim_max = 2};
    if (::setrlimit(RLIMIT_CPU, &low) != 0) std::_Exit(1);
    const auto all = settings({.cpu_time = 10s});
    std::_Exit(all.size() == 1 && all[0] == Setting{"cpu_time", 2, 2} ? 0 : 2);
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(RlimitsTest, NamesAreThoseOfTheLimits) {
  EXPECT_EQ(limit_name(RLIMIT_CPU), "cpu_time");
  EXPECT_EQ(limit_name(RLIMIT_DATA), "memory");
  EXPECT_EQ(limit_name(RLIMIT_FSIZE), "file_size");
  EXPECT_EQ(limit_name(RLIMIT_NOFILE), "open_files");
  EXPECT_EQ(limit_name(RLIMIT_NPROC), "processes");
  EXPECT_EQ(limit_name(RLIMIT_CORE), "core");
  EXPECT_EQ(limit_name(999), "unknown");
}

}  // namespace
}  // namespace cordon::posix
