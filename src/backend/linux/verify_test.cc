#include "backend/linux/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace cordon::linux_backend {
namespace {

using testing::HasSubstr;

constexpr const char* kStatus =
    "Name:\tcordon\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\nGid:\t1001\t1001\t1001\t1001\n"
    "Groups:\t \nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
    "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n"
    "NoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
constexpr ExpectedStatus kExpected{
    .uid = 1000, .gid = 1001, .no_groups = true, .seccomp_filters = 1};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(VerifyStatus, AcceptsWhatWasAskedFor) { EXPECT_TRUE(check_status(kStatus, kExpected)); }

struct Deviation {
  const char* from;
  const char* to;
};
class VerifyStatusRefuses : public testing::TestWithParam<Deviation> {};

TEST_P(VerifyStatusRefuses, AnyDeviation) {  // C42
  const auto checked = check_status(replaced(kStatus, GetParam().from, GetParam().to), kExpected);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().stage, "verify");
}

INSTANTIATE_TEST_SUITE_P(
    , VerifyStatusRefuses,
    testing::Values(Deviation{"Uid:\t1000", "Uid:\t0"},
                    Deviation{"1000\t1000\t1000\t1000", "1000\t1000\t0\t1000"},
                    Deviation{"Gid:\t1001", "Gid:\t0"}, Deviation{"Groups:\t ", "Groups:\t27 "},
                    Deviation{"CapInh:\t0000000000000000", "CapInh:\t0000000000000001"},
                    Deviation{"CapPrm:\t0000000000000000", "CapPrm:\t000001ffffffffff"},
                    Deviation{"CapEff:\t0000000000000000", "CapEff:\t0000000000200000"},
                    Deviation{"CapBnd:\t0000000000000000", "CapBnd:\t0000020000000000"},
                    Deviation{"CapAmb:\t0000000000000000", "CapAmb:\t0000000000000400"},
                    Deviation{"NoNewPrivs:\t1", "NoNewPrivs:\t0"},
                    Deviation{"Seccomp:\t2", "Seccomp:\t0"},
                    Deviation{"Seccomp_filters:\t1", "Seccomp_filters:\t0"},
                    Deviation{"NoNewPrivs:\t1\n", ""}));

TEST(VerifyStatus, OrdinaryCallersKeepTheirGroups) {
  ExpectedStatus expected = kExpected;
  expected.no_groups = false;
  EXPECT_TRUE(check_status(replaced(kStatus, "Groups:\t ", "Groups:\t27 "), expected));
}

constexpr const char* kMounts =
    "100 99 0:50 / / ro,nosuid,nodev,relatime - tmpfs none rw,size=1024k\n"
    "101 100 254:0 /usr /usr ro,nosuid,nodev,relatime - ext4 /dev/vda rw\n"
    "102 100 0:51 / /tmp rw,nosuid,nodev,relatime - tmpfs none rw\n";
const std::vector<ExpectedMount> kView = {
    {.target = "/"}, {.target = "/usr", .bind = true}, {.target = "/tmp", .writable = true}};

TEST(VerifyMounts, AcceptsTheView) { EXPECT_TRUE(check_mounts(kMounts, kView)); }

TEST(VerifyMounts, WhatTheHostHasMountedBelowAGrantBelongsToIt) {
  const std::string text =
      std::string(kMounts) + "103 101 254:1 / /usr/local ro,nosuid,nodev - ext4 /dev/vdb rw\n";
  EXPECT_TRUE(check_mounts(text, kView));
  EXPECT_FALSE(check_mounts(replaced(text, "/usr/local ro", "/usr/local rw"), kView));
}

TEST(VerifyMounts, RefusesAForeignMount) {
  const auto checked =
      check_mounts(std::string(kMounts) + "103 100 0:5 / /sys ro,nosuid - sysfs s rw\n", kView);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, HasSubstr("/sys"));
}

TEST(VerifyMounts, RefusesAWritableOneThatIsNot) {
  EXPECT_FALSE(check_mounts(replaced(kMounts, "/usr ro", "/usr rw"), kView));
  EXPECT_FALSE(check_mounts(replaced(kMounts, "/ ro", "/ rw"), kView));
}

TEST(VerifyMounts, RefusesOneThatHonoursSetuid) {
  EXPECT_FALSE(check_mounts(replaced(kMounts, "/tmp rw,nosuid", "/tmp rw"), kView));
}

TEST(VerifyMounts, RefusesAMissingOne) {
  auto view = kView;
  view.push_back({.target = "/proc", .writable = true});
  EXPECT_FALSE(check_mounts(kMounts, view));
}

TEST(VerifyMounts, UnderstandsBlanksInPaths) {
  const std::string text =
      std::string(kMounts) + "103 100 254:0 /a /with\\040blank ro,nosuid - ext4 /dev/vda rw\n";
  auto view = kView;
  view.push_back({.target = "/with blank", .bind = true});
  EXPECT_TRUE(check_mounts(text, view));
}

}  // namespace
}  // namespace cordon::linux_backend
