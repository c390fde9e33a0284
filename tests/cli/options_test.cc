// What the options of `cordon run` ask for, in the request they make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "run_options.h"

namespace cordon::app {
namespace {

using testing::ElementsAre;

Request request_of(std::vector<std::string> options) {
  options.insert(options.end(), {"--", "true"});
  const auto parsed = parse_run_options(std::move(options));
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->request : Request{};
}

TEST(Options, GrantsKeepTheirOrder) {
  EXPECT_THAT(
      request_of({"--write", "/a", "--read=/a/b", "--tmpfs", "/a/c:1M", "--write", "/d"}).grants,
      ElementsAre(Grant::write("/a"), Grant::read("/a/b"), Grant::tmpfs("/a/c", 1024 * 1024),
                  Grant::write("/d")));
}

TEST(Options, PathsAreMadeAbsoluteWithoutLookingAtThem) {
  const std::string here = std::filesystem::current_path();
  EXPECT_THAT(request_of({"--read", "x/../y/", "--read", ".", "--read", "/a/./b//c/..", "--read",
                          "/", "--tmpfs", "t"})
                  .grants,
              ElementsAre(Grant::read(here + "/y"), Grant::read(here), Grant::read("/a/b"),
                          Grant::read("/"), Grant::tmpfs(here + "/t")));
}

TEST(Options, BindIsToBeChangedUnlessItSaysOtherwise) {
  EXPECT_THAT(request_of({"--bind", "/src:/dst", "--bind", "/src:/dst:ro"}).grants,
              ElementsAre(Grant::bind("/src", "/dst", Grant::Kind::write),
                          Grant::bind("/src", "/dst", Grant::Kind::read)));
}

TEST(Options, CpusAreDecimal) {
  const auto millicores = [](const char* text) {
    return request_of({"--cpus", text}).limits.cpu_millicores;
  };
  EXPECT_EQ(millicores("1"), 1000U);
  EXPECT_EQ(millicores("0.5"), 500U);
  EXPECT_EQ(millicores("2.25"), 2250U);
  EXPECT_EQ(millicores("0.001"), 1U);
  EXPECT_EQ(request_of({}).limits.cpu_millicores, std::nullopt);
}

TEST(Options, UserIsANameOrANumberWithItsGroup) {
  EXPECT_EQ(request_of({"--user", "root"}).user, (User{0, 0}));
  EXPECT_EQ(request_of({"--user", "0"}).user, (User{0, 0}));
  EXPECT_EQ(request_of({"--user", "root:7"}).user, (User{0, 7}));
  EXPECT_EQ(request_of({"--user", "3999999:root"}).user, (User{3999999, 0}));
  EXPECT_EQ(request_of({"--user", "3999999"}).user, (User{3999999, 3999999})) << "nobody's";
  EXPECT_EQ(request_of({}).user, std::nullopt);
}

TEST(Options, NetworkSocketsAndGroups) {
  const Request plain = request_of({});
  EXPECT_EQ(plain.network, Network::none);
  EXPECT_TRUE(plain.unix_sockets);
  EXPECT_FALSE(plain.end_at_process_limit);

  const Request asked = request_of({"--net", "loopback", "--no-unix", "--pids-kill", "--pids", "4",
                                    "--cgroup-parent", "mine/here"});
  EXPECT_EQ(asked.network, Network::loopback);
  EXPECT_FALSE(asked.unix_sockets);
  EXPECT_TRUE(asked.end_at_process_limit);
  EXPECT_EQ(asked.limits.processes, 4U);
  EXPECT_EQ(asked.cgroup_parent, "mine/here");
  EXPECT_EQ(request_of({"--net", "host"}).network, Network::host);
}

TEST(Options, BackendsByName) {
  EXPECT_EQ(parse_run_options({"true"})->backend, Backend::automatic);
  EXPECT_EQ(parse_run_options({"--backend", "linux", "true"})->backend, Backend::linux_sandbox);
  EXPECT_EQ(parse_run_options({"--backend", "posix", "true"})->backend, Backend::posix);
}

}  // namespace
}  // namespace cordon::app
