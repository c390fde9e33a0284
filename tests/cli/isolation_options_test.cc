// What only a backend that isolates can give: the others say so, instead of running with less.
#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;

class IsolationOptions : public CliTest {
 protected:
  // Nothing is run, and the message names the field.
  void expect_refused(const std::vector<std::string>& options, const std::string& field) const {
    std::vector<std::string> arguments = {"run", "--backend", "posix"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    arguments.insert(arguments.end(), {"--", "touch", path("made")});
    const Ended ended = cordon(arguments);
    EXPECT_EQ(ended.status, 125) << testing::PrintToString(options);
    EXPECT_THAT(ended.err, HasSubstr("the posix backend cannot"));
    EXPECT_THAT(ended.err, HasSubstr(field));
    EXPECT_FALSE(std::filesystem::exists(path("made")));
  }
};

TEST_F(IsolationOptions, AreRefusedByThePosixBackend) {
  expect_refused({"--read", "/etc"}, "grants");
  expect_refused({"--write", "out"}, "grants");
  expect_refused({"--bind", "/etc:/etc:ro"}, "grants");
  expect_refused({"--tmpfs", "/scratch:1M"}, "grants");
  expect_refused({"--net", "loopback"}, "network");
  expect_refused({"--net", "host"}, "network");
  expect_refused({"--no-unix"}, "unix_sockets");
  expect_refused({"--explain"}, "explain");
  expect_refused({"--user", "12345"}, "user");
  expect_refused({"--user", "root:0"}, "user");
  expect_refused({"--pids-kill", "--pids", "4"}, "end_at_process_limit");
  expect_refused({"--cgroup-parent", "mine"}, "cgroup_parent");
  expect_refused({"--cpus", "0.5"}, "cpu_millicores");
}

TEST_F(IsolationOptions, NoNetworkIsDeclaredNotEnforcedByThePosixBackend) {
  const Ended ended =
      cordon({"run", "--backend", "posix", "--net", "none", "--json", "--", "true"});
  EXPECT_EQ(ended.status, 0);
  const auto enforcement = parse(ended.out).at("outcome").at("enforcement");
  EXPECT_THAT(std::string(enforcement.at("network").as_string()), HasSubstr("not enforced"));
}

TEST_F(IsolationOptions, DefaultLimitsAreNotThoseOfThePosixBackend) {
  const auto plan = parse(cordon({"plan", "--json", "--backend", "posix", "--", "true"}).out);
  EXPECT_EQ(plan.at("enforcement").at("memory"), "not enforced: no limit was asked for");
}

}  // namespace
}  // namespace cordon::cli
