#include "policy/obstacles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policy/testing.h"

namespace cordon::policy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> texts(const std::vector<Place>& places) {
  std::vector<std::string> all;
  for (const Place& place : places) all.push_back(to_string(place));
  return all;
}

Denial hidden(const std::string& path, Grant::Kind kind) {
  return {.what = path, .access = "read", .grant = Grant::bind(path, path, kind)};
}

TEST(Obstacles, AreAllLinesThatWouldRefuseTheOption) {
  const Policy policy = policy_of({{"site.toml",
                                    "[paths]\n"
                                    "read = [\"/srv\"]\n"
                                    "deny = [\"/etc/shadow\"]\n"}});
  EXPECT_THAT(texts(obstacles(policy, hidden("/home/me/x", Grant::Kind::read))),
              ElementsAre("site.toml:2"));
  EXPECT_THAT(texts(obstacles(policy, hidden("/srv/x", Grant::Kind::read))), IsEmpty());
}

TEST(Obstacles, AreNoneWithoutAPolicy) {
  EXPECT_THAT(texts(obstacles({}, hidden("/home/me/x", Grant::Kind::read))), IsEmpty());
}

TEST(Obstacles, NameTheNetworkOfThePolicy) {
  const Policy policy = policy_of({{"site.toml", "network = \"none\"\n"}});
  EXPECT_THAT(texts(obstacles(policy, {.what = "1.2.3.4:80", .network = Network::host})),
              ElementsAre("site.toml:1"));
}

TEST(Obstacles, WhatNoOptionAllowsHasNone) {
  const Policy policy = policy_of({{"site.toml", "network = \"none\"\n"}});
  EXPECT_THAT(texts(obstacles(policy, {.kind = Denial::Kind::system_call, .what = "mount"})),
              IsEmpty());
}

}  // namespace
}  // namespace cordon::policy
