#include "plan/default_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/paths.h"

namespace cordon::plan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = View::Kind;

const Identity kUser{1001, 1002, User{1001, 1002}};

const View* at(const std::vector<View>& views, std::string_view target) {
  const auto it = std::ranges::find(views, target, &View::target);
  return it == views.end() ? nullptr : &*it;
}

TEST(DefaultViewTest, NothingOfTheHostIsWritable) {
  for (const auto network : {Network::none, Network::loopback, Network::host}) {
    for (const View& view : default_view(kUser, network, {})) {
      EXPECT_EQ(base::normalise(view.target), view.target);
      EXPECT_FALSE(view.granted) << view.target;
      EXPECT_TRUE(!view.writable || view.kind == Kind::tmpfs) << view.target;
      if (view.kind == Kind::bind) {
        EXPECT_TRUE(view.optional) << view.target;
        EXPECT_EQ(view.source, view.target);
      }
      EXPECT_TRUE(view.kind != Kind::tmpfs || view.size > 0) << view.target;
    }
  }
}

TEST(DefaultViewTest, ShowsNoFileWithNamesOrSecretsOfTheHost) {
  const auto views = default_view(kUser, Network::none, {});
  for (const char* path : {"/etc", "/etc/shadow", "/home", "/root", "/var", "/run", "/sys",
                           "/etc/resolv.conf", "/etc/hostname", "/etc/machine-id", "/etc/ssl"}) {
    EXPECT_EQ(at(views, path), nullptr) << path;
  }
  EXPECT_EQ(at(views, "/etc/passwd")->kind, Kind::file);
  EXPECT_EQ(at(views, "/etc/group")->kind, Kind::file);
  EXPECT_EQ(at(views, "/etc/hosts")->content, "127.0.0.1 localhost\n::1 localhost\n");
}

TEST(DefaultViewTest, TheHostsNetworkComesWithItsNames) {
  const auto views = default_view(kUser, Network::host, {});
  EXPECT_EQ(at(views, "/etc/hosts")->kind, Kind::bind);
  EXPECT_EQ(at(views, "/etc/resolv.conf")->kind, Kind::bind);
  EXPECT_TRUE(at(views, "/etc/resolv.conf")->follow);  // else it points to nothing
  EXPECT_EQ(std::ranges::count(views, "/etc/hosts", &View::target), 1);
}

TEST(DefaultViewTest, TheProgramsIdsHaveNames) {
  auto views = default_view(kUser, Network::none, {});
  EXPECT_THAT(at(views, "/etc/passwd")->content, HasSubstr("user:x:1001:1002:"));
  EXPECT_THAT(at(views, "/etc/passwd")->content, HasSubstr("root:x:0:0:"));
  EXPECT_THAT(at(views, "/etc/group")->content, HasSubstr("user:x:1002:"));
  views = default_view({65534, 0, User{65534, 0}}, Network::none, {});
  EXPECT_THAT(at(views, "/etc/passwd")->content, Not(HasSubstr("user:")));
  EXPECT_THAT(at(views, "/etc/group")->content, Not(HasSubstr("user:")));
}

TEST(DefaultViewTest, PrivatePlacesAreNoLargerThanTheMemoryLimit) {
  EXPECT_EQ(at(default_view(kUser, Network::none, {}), "/tmp")->size, kDefaultTmpfsSize);
  const auto views = default_view(kUser, Network::none, {.memory_bytes = 1 << 20});
  EXPECT_EQ(at(views, "/tmp")->size, 1U << 20);
  EXPECT_EQ(at(views, "/dev/shm")->size, 1U << 20);
  EXPECT_EQ(at(views, "/tmp")->mode, 01777U);
  EXPECT_FALSE(at(views, "/dev")->writable);
}

}  // namespace
}  // namespace cordon::plan
