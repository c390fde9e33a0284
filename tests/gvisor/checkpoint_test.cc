// Checkpoints: what is written at n goes on at n + 1, whoever restores it.
#include <thread>

#include "gvisor/harness.h"
#include "support/count_from.h"

namespace cordon::gvisor_tests {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GvisorCheckpoint : public GvisorTest {
 protected:
  void SetUp() override {
    GvisorTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (const std::string why = engine().no_checkpoint(); !why.empty()) GTEST_SKIP() << why;
  }
  // Reads what the counter says until `count`, and then all that is there until its end: the last.
  static int last_after(EventStream& events, int count) {
    int last = 0;
    while (last < count) {
      const std::string line = next_line(events);
      if (line.empty()) break;
      last = std::stoi(line);
    }
    return last;
  }
  static int drain(EventStream& events, int last) {
    for (std::string line = next_line(events); !line.empty(); line = next_line(events)) {
      EXPECT_EQ(std::stoi(line), last + 1);
      last = std::stoi(line);
    }
    return last;
  }
};

TEST_F(GvisorCheckpoint, GoesOnWhereItWas) {
  int last = 0;
  {
    const auto container = create(counter());
    EventStream events = container->main()->events();
    last = last_after(events, 5);
    EXPECT_EQ(exec(*container, "echo kept > /tmp/kept").outcome.exit_code, 0);
    std::uint64_t written = 0;
    const auto done = container->checkpoint(
        {.image = image("image"), .progress = [&](std::uint64_t bytes) { written = bytes; }});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_GT(written, 0U);
    last = drain(events, last);
  }
  EXPECT_TRUE(fs::exists(image("image") / "manifest.json"));
  renew_engine();
  auto restored = engine().restore(spec(counter()), image("image"));
  ASSERT_TRUE(restored) << restored.error().message;
  EventStream events = (*restored)->main()->events();
  EXPECT_EQ(next_line(events), std::to_string(last + 1));
  EXPECT_EQ(exec(**restored, "cat /tmp/kept").out, "kept\n");
}

TEST_F(GvisorCheckpoint, ManyTimesInARow) {
  const int cycles = support::count_from("CORDON_SOAK_CHECKPOINT_CYCLES", 3);
  auto container = create(counter());
  EventStream events = container->main()->events();
  int last = last_after(events, 3);
  for (int cycle = 0; cycle < cycles; ++cycle) {
    const fs::path at = image("image" + std::to_string(cycle));
    const auto done = container->checkpoint({.image = at});
    ASSERT_TRUE(done) << cycle << ": " << done.error().message;
    last = drain(events, last);
    container.reset();
    auto restored = engine().restore(spec(counter()), at);
    ASSERT_TRUE(restored) << cycle << ": " << restored.error().message;
    container = std::move(*restored);
    events = container->main()->events();
    const std::string line = next_line(events);
    ASSERT_EQ(line, std::to_string(last + 1)) << cycle;
    ++last;
    fs::remove_all(at);
  }
}

TEST_F(GvisorCheckpoint, OneImageServesTwice) {
  {
    const auto container = create(counter());
    ASSERT_TRUE(container->checkpoint({.image = image("image")}));
  }
  auto first = engine().restore(spec(counter()), image("image"));
  ASSERT_TRUE(first) << first.error().message;
  auto second = engine().restore(spec(counter()), image("image"));
  ASSERT_TRUE(second) << second.error().message;
  EventStream one = (*first)->main()->events();
  EventStream two = (*second)->main()->events();
  EXPECT_EQ(next_line(one), next_line(two));
}

TEST_F(GvisorCheckpoint, WhoCannotBeLeftRunningIsNotTouched) {
  const auto container = create(counter());
  const auto done = container->checkpoint({.image = image("image"), .leave_running = true});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::unsupported);
  EXPECT_TRUE(container->main()->running());
  EXPECT_FALSE(fs::exists(image("image")));
}

TEST_F(GvisorCheckpoint, TheMainProgramHasNotExited) {
  const auto container = create(counter());
  ASSERT_TRUE(container->checkpoint({.image = image("image")}));
  const auto outcome = container->main()->wait();
  ASSERT_TRUE(outcome);
  EXPECT_FALSE(outcome->exit_code);
  auto process = container->inside().create(script("true"));
  ASSERT_TRUE(process);
  const auto started = (*process)->start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("checkpointed"));
}

TEST_F(GvisorCheckpoint, WhoIsExecutedMeanwhileRunsOrIsToldWhyNot) {
  const auto container = create(counter());
  std::vector<std::thread> threads;
  std::atomic<int> unexpected{0};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      auto process = container->inside().create(script("exit 4"));
      if (!process) return;
      if (const auto started = (*process)->start(); !started) {
        if (started.error().code != ErrorCode::wrong_state) ++unexpected;
        return;
      }
      const auto outcome = (*process)->wait();
      // Its end was seen, or went with the sandbox; never an exit that was none.
      if (outcome->exit_code && outcome->exit_code != 4) ++unexpected;
    });
  }
  const auto done = container->checkpoint({.image = image("image")});
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(unexpected, 0);
}

}  // namespace
}  // namespace cordon::gvisor_tests
