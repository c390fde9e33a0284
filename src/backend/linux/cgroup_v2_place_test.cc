#include "backend/linux/cgroup_v2_place.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace cordon::linux_backend {
namespace {

namespace fs = std::filesystem;

constexpr auto kAll = "cpuset cpu io memory pids\n";

// A tree of ordinary files that looks like a hierarchy. It shows what is decided, not what the
// kernel says to it.
class CgroupPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "cordon-cgroup-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = name;
    mount_.v2 = true;
    mount_.root = "/";
    mount_.point = name;
    group("", "", kAll);
  }
  void TearDown() override { fs::remove_all(top_); }

  void file(const std::string& path, const std::string& text) const {
    ASSERT_TRUE(fs::path(path).is_relative());
    std::ofstream(top_ / path) << text;
  }
  void group(const std::string& path, const std::string& procs, const std::string& handed_on) {
    const std::string dir = path.empty() ? "" : path + "/";
    fs::create_directories(top_ / path);
    file(dir + "cgroup.type", "domain\n");
    file(dir + "cgroup.controllers", kAll);
    file(dir + "cgroup.procs", procs);
    file(dir + "cgroup.subtree_control", handed_on);
    for (const auto* const limit : {"memory.max", "memory.high", "pids.max"}) {
      file(dir + limit, "max\n");
    }
    file(dir + "cpu.max", "max 100000\n");
    file(dir + "cpuset.cpus", "\n");
  }

  fs::path top_;
  CgroupMount mount_;
};

TEST_F(CgroupPlaceTest, GroupThatHandsControllersOnTakesOursBelow) {
  group("app", "", kAll);
  group("app/cordon", "", kAll);
  const auto place = find_v2_place(mount_, "/app", "");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->group, "/app/cordon");
  for (const auto& feature : place->features) EXPECT_TRUE(feature.works) << feature.why;
}

TEST_F(CgroupPlaceTest, OccupiedGroupWithoutLimitsTakesOursBeside) {
  group("app", "", kAll);
  group("app/leaf", "1\n2\n", "");
  group("app/cordon", "", kAll);
  const auto place = find_v2_place(mount_, "/app/leaf", "");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->group, "/app/cordon");
  EXPECT_FALSE(fs::exists(top_ / "app/leaf/cordon"));
  EXPECT_TRUE(fs::is_empty(top_ / "app/leaf/cgroup.subtree_control"));
}

TEST_F(CgroupPlaceTest, LimitOfTheOwnGroupIsNotEscaped) {
  const std::pair<const char*, const char*> limits[] = {{"memory.max", "1073741824\n"},
                                                        {"memory.high", "1073741824\n"},
                                                        {"pids.max", "100\n"},
                                                        {"cpu.max", "50000 100000\n"},
                                                        {"cpuset.cpus", "0-1\n"}};
  for (const auto& [name, value] : limits) {
    group("app", "", kAll);
    group("app/leaf", "1\n", "");
    file(std::string("app/leaf/") + name, value);
    const auto place = find_v2_place(mount_, "/app/leaf", "");
    ASSERT_FALSE(place) << name;
    EXPECT_EQ(place.error().code, ErrorCode::unsupported);
    EXPECT_NE(place.error().message.find(name), std::string::npos) << place.error().message;
    EXPECT_NE(place.error().message.find("Delegate=yes"), std::string::npos);
    EXPECT_FALSE(fs::exists(top_ / "app/cordon"));
  }
}

TEST_F(CgroupPlaceTest, OccupiedTopOfAContainerIsRefused) {
  group("", "1\n", "");
  const auto place = find_v2_place(mount_, "/", "");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, ErrorCode::unsupported);
  EXPECT_NE(place.error().message.find("--cgroup-parent"), std::string::npos);
  EXPECT_FALSE(fs::exists(top_ / "cordon"));
}

TEST_F(CgroupPlaceTest, ControllerThatIsNotHandedOnIsNamed) {
  group("mine", "", "memory pids\n");
  file("mine/cgroup.controllers", "memory pids\n");
  const auto place = find_v2_place(mount_, "/app", "mine");
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->group, "/mine");
  EXPECT_TRUE(place->features[0].works);
  EXPECT_TRUE(place->features[1].works);
  EXPECT_FALSE(place->features[2].works);
  EXPECT_NE(place->features[2].why.find("cpu controller"), std::string::npos);
  EXPECT_NE(place->features[2].fix, "");
}

TEST_F(CgroupPlaceTest, GroupOutsideOfTheMountIsRefused) {
  const auto place = find_v2_place(mount_, "/../other", "");
  ASSERT_FALSE(place);
  EXPECT_EQ(place.error().code, ErrorCode::unsupported);
  EXPECT_NE(place.error().message.find("not visible"), std::string::npos);
}

}  // namespace
}  // namespace cordon::linux_backend
