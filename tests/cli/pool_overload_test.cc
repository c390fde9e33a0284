// What becomes of runs when more is asked of a pool than it can do.
#include <boost/json/object.hpp>
#include <fstream>

#include "pool_channel.h"
#include "pool_fixture.h"
#include "support/eventually.h"

namespace cordon::cli {
namespace {

using app::pool::Channel;
using app::pool::Kind;
using app::pool::Refused;
using testing::HasSubstr;

// As pool_service.h and pool_service.cc have them.
constexpr std::size_t kMostWaiting = 128;
constexpr std::size_t kMoreConnections = 32;
constexpr Duration kAnswer = std::chrono::seconds(20);

class PoolOverload : public PoolTest {
 protected:
  void SetUp() override {
    PoolTest::SetUp();
    start({"--size", "1"});
  }
  // Has the one place until it is typed at.
  [[nodiscard]] Running occupy() const {
    Running run =
        pooled("only", {"--", "sh", "-c", "echo ready; read line"}).keep_input_open().start();
    EXPECT_TRUE(run.reads("ready"));
    return run;
  }
  static void let_go(Running& run) {
    run.types_all("\n");
    EXPECT_EQ(run.wait().status, 0);
  }
  [[nodiscard]] std::vector<Channel> wait_in_line(std::size_t count) const {
    std::vector<Channel> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(raw());
      EXPECT_TRUE(all.back().send(Kind::reserve, reserve(std::chrono::minutes(1)), kAnswer));
    }
    EXPECT_TRUE(eventually([&] { return number("waiting") == static_cast<std::int64_t>(count); }));
    return all;
  }
  static boost::json::object outcome_of(const Ended& ended) {
    return parse(ended.out).as_object().at("outcome").as_object();
  }
};

TEST_F(PoolOverload, WhoCameFirstIsNextWhetherOrNotASandboxIsReady) {
  const std::string order = path("work/order");
  const auto numbered = [&](int i) {
    std::vector<std::string> arguments = {"--json", "--write", path("work")};
    // Every other one is of a kind that was never seen.
    if (i % 2 == 1) arguments.insert(arguments.end(), {"--tmpfs", "/own/" + std::to_string(i)});
    arguments.insert(arguments.end(),
                     {"--", "sh", "-c", "echo " + std::to_string(i) + " >>" + order});
    return pooled("only", arguments);
  };
  ASSERT_TRUE(eventually([&] { return outcome_of(numbered(0).run()).at("launch") == "warm"; }));
  ASSERT_TRUE(eventually([&] { return number("parked") > 0; }));
  std::filesystem::remove(order);

  Running first = occupy();
  std::vector<Running> runs;
  runs.reserve(8);
  for (int i = 0; i < 8; ++i) {
    runs.push_back(numbered(i).start());
    ASSERT_TRUE(eventually([&] { return number("waiting") == i + 1; })) << i;
  }
  let_go(first);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Ended ended = runs[i].wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    if (i % 2 == 1) {
      EXPECT_EQ(outcome_of(ended).at("launch"), "cold");
    }
    if (i == 0) {
      EXPECT_EQ(outcome_of(ended).at("launch"), "warm");
    }
  }
  EXPECT_EQ(read_file(order), "0\n1\n2\n3\n4\n5\n6\n7\n");
}

TEST_F(PoolOverload, NobodyWaitsLongerThanItsRunMayTake) {
  Running first = occupy();
  const Ended late = pooled("only", {"--timeout", "200ms", "--", "true"}).run();
  EXPECT_EQ(late.status, 125);
  EXPECT_EQ(late.err,
            "cordon: --pool only: the pool has refused this run: it is busy (1 of 1 places are "
            "taken, 0 wait), and there was no place within the 200ms that this run waits: try "
            "again later, start the pool with a larger --size, or use --pool auto\n");
  EXPECT_LT(late.wall, std::chrono::seconds(10));  // of the minute that others wait
  let_go(first);
}

TEST_F(PoolOverload, WhoWouldWaitTooLongIsToldAtOnce) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(pooled("only", {"--", "sleep", "0.3"}).run().status, 0);
  Running first = occupy();
  const Ended hopeless = pooled("only", {"--timeout", "200ms", "--", "true"}).run();
  EXPECT_EQ(hopeless.status, 125);
  EXPECT_THAT(hopeless.err, HasSubstr("as long as programs ran of late there would be no place"));
  EXPECT_THAT(hopeless.err, HasSubstr("while this run waits for 200ms: try again later"));
  EXPECT_EQ(number("waiting"), 0);
  let_go(first);
  // A free place is there for everybody, once the pool has seen that it is free.
  EXPECT_TRUE(support::eventually(
      [&] { return pooled("only", {"--timeout", "200ms", "--", "true"}).run().status != 125; }));
}

TEST_F(PoolOverload, WhatItRefusesIsRunAllTheSameAndTheOutcomeSaysWhy) {
  Running first = occupy();
  const Ended usual = pooled("auto", {"--json", "--timeout", "10s", "--", "echo", "done"}).run();
  EXPECT_EQ(usual.status, 0) << usual.err;
  EXPECT_EQ(usual.err, "");
  EXPECT_EQ(parse(usual.out).at("stdout"), "done\n");
  const boost::json::object outcome = outcome_of(usual);
  EXPECT_EQ(outcome.at("launch"), "cold");
  EXPECT_THAT(std::string(outcome.at("launch_note").as_string()),
              HasSubstr("the pool has refused this run: it is busy (1 of 1 places are taken"));
  let_go(first);
  // No pool is nothing to speak of.
  EXPECT_EQ(cordon({"pool", "stop"}).status, 0);
  EXPECT_TRUE(
      outcome_of(pooled("auto", {"--json", "--", "true"}).run()).at("launch_note").is_null());
}

TEST_F(PoolOverload, NoMoreThanMayWaitAndTheRestIsToldSoAtOnce) {
  Running first = occupy();
  std::vector<Channel> line = wait_in_line(kMostWaiting);
  const Ended full = pooled("only", {"--", "true"}).run();
  EXPECT_EQ(full.status, 125);
  EXPECT_THAT(full.err, HasSubstr("(1 of 1 places are taken, 128 wait), and no more may wait: try "
                                  "again later"));
  EXPECT_LT(full.wall, std::chrono::seconds(30));  // of the minute that it would have waited
  // Those who have gone are not waited for.
  line.clear();
  EXPECT_TRUE(eventually([&] { return number("waiting") == 0; }));
  Running next = pooled("only", {"--", "true"}).start();
  EXPECT_TRUE(eventually([&] { return number("waiting") == 1; }));
  let_go(first);
  EXPECT_EQ(next.wait().status, 0);
}

TEST_F(PoolOverload, EvenWhoGetsNoConversationIsToldWhy) {
  Running first = occupy();
  std::vector<Channel> line = wait_in_line(kMostWaiting);
  // Silent ones are dropped after a while, so that there may have to be more of them.
  EXPECT_TRUE(eventually([&] {
    std::vector<base::Fd> silent;
    silent.reserve(kMoreConnections);
    for (std::size_t i = 0; i < kMoreConnections; ++i) silent.push_back(raw());
    Channel one_more(raw());
    const auto answer = one_more.receive(kAnswer);
    const auto refused = answer && answer->kind == Kind::refused
                             ? app::pool::from_bytes<Refused>(answer->bytes)
                             : std::nullopt;
    return refused && refused->why == Refused::Why::busy &&
           refused->message.find("connections, as many as it may") != std::string::npos;
  }));
  line.clear();
  let_go(first);
  EXPECT_TRUE(eventually([&] { return pooled("only", {"--", "true"}).run().status == 0; }));
}

}  // namespace
}  // namespace cordon::cli
