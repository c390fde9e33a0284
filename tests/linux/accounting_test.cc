// What an outcome says of a run whose resources control groups have counted.
#include <unistd.h>

#include <chrono>

#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;

class Accounting : public testing::Test {
 protected:
  void SetUp() override {
    CORDON_NEEDS_SANDBOX(false);
    manager_ = make_manager();
    ASSERT_TRUE(manager_);
    const Enforcement kept = manager_->capabilities().enforcement;
    if (kept.processes.level != Guarantee::Level::enforced) {
      CORDON_SKIP_WITHOUT("cgroup", describe(kept.processes));
    }
  }

  [[nodiscard]] Manager& manager() { return *manager_; }
  [[nodiscard]] Outcome run(std::string program, std::vector<std::string> args,
                            const Limits& limits = {}) {
    return run(Request{.program = std::move(program), .args = std::move(args), .limits = limits});
  }
  [[nodiscard]] Outcome run(Request request) {
    request.cwd = "/usr";
    request.timeout = 20s;
    request.grace = 100ms;
    return run_to_end(*manager_, std::move(request));
  }
  [[nodiscard]] Outcome shell(std::string script, const Limits& limits = {}) {
    return run("/bin/sh", {"-c", std::move(script)}, limits);
  }

 private:
  std::unique_ptr<Manager> manager_;
};

TEST_F(Accounting, ProcessorTimeIsTheGroups) {
  const Outcome outcome = shell("while :; do :; done", {.cpu_time = 100ms});
  ASSERT_EQ(outcome.verdict, Verdict::cpu_time) << to_json(outcome);
  EXPECT_EQ(outcome.limit->evidence, "processor time of the control group");
}

TEST_F(Accounting, ProcessesAreTheProgramsOwn) {
  const std::pair<const char*, unsigned> expected[] = {
      {"exit 0", 1},
      {"/bin/true; /bin/true", 2},   // one after the other
      {"sleep 1000 &", 2},           // left behind
      {"/bin/true | /bin/true", 3},  //
      {"sleep 1000 & sleep 1000 & exit", 3},
      {"sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & exit", 5},
  };
  for (const auto& [script, processes] : expected) {
    const Outcome outcome = shell(script);
    ASSERT_EQ(outcome.verdict, Verdict::exited) << to_json(outcome);
    EXPECT_EQ(outcome.usage.processes_peak, processes) << script;
  }
}

TEST_F(Accounting, ProcessesAreNeverMoreThanTheLimit) {
  for (const unsigned limit : {1U, 2U, 5U}) {
    const Outcome outcome =
        shell("sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & exit",
              {.processes = limit});
    EXPECT_EQ(outcome.usage.processes_peak, limit) << to_json(outcome);
    ASSERT_EQ(outcome.limits_hit.size(), 1U);
    EXPECT_EQ(outcome.limits_hit.front().observed, limit);
  }
}

constexpr std::uint64_t kMegabyte = 1 << 20;

TEST_F(Accounting, FilesInMemoryAreCache) {
  const Outcome outcome = shell("head -c 30000000 /dev/zero > /tmp/file");
  ASSERT_EQ(outcome.exit_code, 0) << to_json(outcome);
  EXPECT_GT(outcome.usage.memory_cache_bytes, 25 * kMegabyte);
  EXPECT_LT(outcome.usage.memory_anonymous_bytes, 5 * kMegabyte);
}

TEST_F(Accounting, WhatIsKilledHadAnonymousMemory) {
  Request request = misbehave({"crowd", "2", std::to_string(20 * kMegabyte)});
  request.limits.cpu_time = 20s;
  request.out = Output::events({.mode = OutputMode::line});
  auto process = manager().create(std::move(request)).value();
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const auto ready = events.next_for(20s);
  ASSERT_TRUE(ready && *ready && (*ready)->data.str() == "ready");
  ASSERT_TRUE(process->kill());
  const Outcome outcome = process->wait().value();
  EXPECT_GT(outcome.usage.memory_anonymous_bytes, 30 * kMegabyte) << to_json(outcome);
  EXPECT_LT(outcome.usage.memory_anonymous_bytes, *outcome.usage.memory_peak_bytes + kMegabyte);
}

}  // namespace
}  // namespace cordon::linux_tests
