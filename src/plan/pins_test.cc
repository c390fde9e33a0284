// Files that were checked, on top of what a sandbox shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/grants.h"

namespace cordon::plan {
namespace {

const std::vector<View> kRoot = {
    {.target = "/usr", .source = "/usr", .optional = true},
    {.kind = View::Kind::symlink, .target = "/bin", .content = "usr/bin"},
    {.kind = View::Kind::tmpfs, .target = "/tmp", .writable = true},
    {.target = "/data", .source = "/home/me/data", .granted = true},
    {.target = "/home/me/bin", .source = "/home/me/bin", .writable = true, .granted = true},
};

Request pinned(std::vector<std::string> paths) {
  Request request;
  for (std::string& path : paths) request.pins.push_back({std::move(path), 3});
  return request;
}

TEST(Pins, LieReadOnlyOnWhatShowsTheFile) {
  const auto pins = pinned_views(pinned({"/usr/bin/true", "/home/me/bin/tool"}), kRoot);
  ASSERT_TRUE(pins);
  ASSERT_EQ(pins->size(), 2U);
  EXPECT_EQ((*pins)[0], (View{.target = "/usr/bin/true", .source = "/usr/bin/true"}));
  // With the owner that the program sees around it.
  EXPECT_EQ((*pins)[1],
            (View{.target = "/home/me/bin/tool", .source = "/home/me/bin/tool", .granted = true}));
}

TEST(Pins, AreMadeOnce) {
  EXPECT_EQ(pinned_views(pinned({"/usr/bin/true", "/usr/bin/true"}), kRoot)->size(), 1U);
}

TEST(Pins, WhatIsNotShownNeedsNone) {
  EXPECT_TRUE(pinned_views(pinned({"/opt/tool"}), kRoot)->empty());
}

TEST(Pins, AnotherFileAtThePlaceIsRefused) {
  for (const char* path : {"/data/tool", "/tmp/tool", "/bin/true", "/home/me/bin/../x"}) {
    const auto pins = pinned_views(pinned({path}), kRoot);
    ASSERT_FALSE(pins) << path;
    EXPECT_EQ(pins.error().code, ErrorCode::invalid_argument);
    EXPECT_THAT(pins.error().message, testing::HasSubstr(path));
  }
}

}  // namespace
}  // namespace cordon::plan
