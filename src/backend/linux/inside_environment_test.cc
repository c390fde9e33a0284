#include "backend/linux/inside_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cordon::linux_backend {
namespace {

using plan::View;
using testing::ElementsAre;

plan::SandboxPlan plan_with(std::vector<View> extra = {}) {
  plan::SandboxPlan plan;
  plan.root = {{.target = "/usr", .source = "/usr"},
               {.kind = View::Kind::tmpfs, .target = "/tmp", .writable = true}};
  plan.root.insert(plan.root.end(), extra.begin(), extra.end());
  return plan;
}

TEST(InsideEnvironment, DirectoriesThatAreNotThereBecomeTmp) {
  EXPECT_THAT(
      inside_environment({"HOME=/home/a", "TMPDIR=/tmp/a", "LANG=C"}, Request{}, plan_with()),
      ElementsAre("HOME=/tmp", "TMPDIR=/tmp", "LANG=C"));
  EXPECT_THAT(inside_environment({"HOME=", "TMPDIR=../a"}, Request{}, plan_with()),
              ElementsAre("HOME=/tmp", "TMPDIR=/tmp"));
}

TEST(InsideEnvironment, DirectoriesThatAreThereStay) {
  const auto plan = plan_with({{.target = "/data", .source = "/data", .writable = true}});
  EXPECT_THAT(inside_environment({"HOME=/usr/games", "TMPDIR=/data/tmp"}, Request{}, plan),
              ElementsAre("HOME=/usr/games", "TMPDIR=/data/tmp"));
}

TEST(InsideEnvironment, WhatTheRequestSetsStays) {
  Request request;
  request.env = {{"HOME", "/nowhere"}};
  EXPECT_THAT(inside_environment({"HOME=/nowhere"}, request, plan_with()),
              ElementsAre("HOME=/nowhere"));
}

TEST(InsideEnvironment, HomeStaysIfSomethingInItIsGranted) {
  Request request;
  request.grants = {Grant::read("/home/a/.config")};
  const auto plan = plan_with({{.target = "/home/a/.config", .source = "/home/a/.config"}});
  EXPECT_THAT(inside_environment({"HOME=/home/a"}, request, plan), ElementsAre("HOME=/home/a"));
  EXPECT_THAT(inside_environment({"HOME=/home/ab"}, request, plan), ElementsAre("HOME=/tmp"));
}

}  // namespace
}  // namespace cordon::linux_backend
