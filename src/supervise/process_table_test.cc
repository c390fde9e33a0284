#include "supervise/process_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cordon::supervise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Has an id and nothing else.
class StubProcess : public Process {
 public:
  explicit StubProcess(ProcessId id) : id_(id) {}
  [[nodiscard]] ProcessId id() const override { return id_; }

  [[nodiscard]] Result<void> start() override { return {}; }
  [[nodiscard]] Result<Outcome> wait() override { return Outcome{}; }
  [[nodiscard]] Result<Outcome> wait_for(Duration) override { return Outcome{}; }
  [[nodiscard]] Result<void> signal(int, Reach) override { return {}; }
  [[nodiscard]] Result<void> terminate(Duration) override { return {}; }
  [[nodiscard]] Result<void> kill() override { return {}; }
  [[nodiscard]] Result<void> set_stdin(Input) override { return {}; }
  [[nodiscard]] Result<void> set_stdout(Output) override { return {}; }
  [[nodiscard]] Result<void> set_stderr(Output) override { return {}; }
  [[nodiscard]] Result<void> set_limits(const Limits&) override { return {}; }
  [[nodiscard]] Limits limits() const override { return {}; }
  [[nodiscard]] Result<std::size_t> write_stdin(std::string_view, Duration) override { return 0; }
  [[nodiscard]] Result<void> close_stdin() override { return {}; }
  [[nodiscard]] Result<void> resize_terminal(TerminalSize) override { return {}; }
  [[nodiscard]] std::optional<std::int64_t> os_pid() const override { return {}; }
  [[nodiscard]] bool running() const override { return false; }
  [[nodiscard]] std::optional<int> exit_code() const override { return {}; }
  [[nodiscard]] Status status() override { return {}; }
  [[nodiscard]] EventStream events() override { std::abort(); }
  [[nodiscard]] std::optional<Outcome> outcome() const override { return {}; }

 private:
  ProcessId id_;
};

std::shared_ptr<Process> add(ProcessTable& table) {
  auto process = std::make_shared<StubProcess>(table.next_id());
  table.add(process->id(), process);
  return process;
}

std::vector<ProcessId> ids(const std::vector<std::shared_ptr<Process>>& processes) {
  std::vector<ProcessId> all;
  all.reserve(processes.size());
  for (const auto& process : processes) all.push_back(process->id());
  return all;
}

TEST(ProcessTableTest, FindsAProcessById) {  // C13
  ProcessTable table;
  const auto process = add(table);
  const auto found = table.get(process->id());
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, process);
}

TEST(ProcessTableTest, UnknownIdIsNotFoundAndNamed) {  // C13
  const ProcessTable table;
  const auto found = table.get(4711);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::not_found);
  EXPECT_THAT(found.error().message, HasSubstr("4711"));
}

TEST(ProcessTableTest, IdsAreNeverReused) {
  ProcessTable table;
  std::set<ProcessId> seen;
  for (int i = 0; i < 100; ++i) {
    const auto process = add(table);
    EXPECT_TRUE(seen.insert(process->id()).second);
    EXPECT_NE(process->id(), 0U);
    table.remove(process->id());
  }
}

TEST(ProcessTableTest, ListsInOrderOfIds) {  // C14
  ProcessTable table;
  const auto one = add(table);
  const auto two = add(table);
  const auto three = add(table);
  EXPECT_THAT(ids(table.list()), ElementsAre(one->id(), two->id(), three->id()));
  table.remove(two->id());
  EXPECT_THAT(ids(table.list()), ElementsAre(one->id(), three->id()));
  EXPECT_FALSE(table.get(two->id()));
}

TEST(ProcessTableTest, KeepsARunningProcessThatNobodyHolds) {
  ProcessTable table;
  auto process = add(table);
  const ProcessId id = process->id();
  const std::weak_ptr<Process> alive = process;
  table.hold(id, std::move(process));
  EXPECT_FALSE(alive.expired());
  EXPECT_TRUE(table.get(id));
  EXPECT_THAT(ids(table.running()), ElementsAre(id));
}

TEST(ProcessTableTest, LetsGoOfAnEndedProcess) {
  ProcessTable table;
  auto process = add(table);
  const ProcessId id = process->id();
  const std::weak_ptr<Process> alive = process;
  table.hold(id, std::move(process));
  EXPECT_NE(table.release(id), nullptr);
  EXPECT_TRUE(alive.expired());
  EXPECT_FALSE(table.get(id));
  EXPECT_THAT(table.list(), IsEmpty());
  EXPECT_THAT(table.running(), IsEmpty());
}

TEST(ProcessTableTest, KnowsAnEndedProcessWhileSomebodyHoldsIt) {
  ProcessTable table;
  const auto process = add(table);
  table.hold(process->id(), process);
  (void)table.release(process->id());
  EXPECT_TRUE(table.get(process->id()));
  EXPECT_THAT(ids(table.list()), ElementsAre(process->id()));
  EXPECT_THAT(table.running(), IsEmpty());
}

TEST(ProcessTableTest, ReleasingTwiceOrTheUnknownGivesNothing) {
  ProcessTable table;
  const auto process = add(table);
  table.hold(process->id(), process);
  EXPECT_EQ(table.release(process->id()), process);
  EXPECT_EQ(table.release(process->id()), nullptr);
  EXPECT_EQ(table.release(4711), nullptr);
  table.remove(4711);
}

TEST(ProcessTableTest, IsThreadSafe) {  // C17
  ProcessTable table;
  constexpr int kThreads = 4;
  constexpr int kEach = 200;
  std::vector<std::vector<ProcessId>> seen(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&table, &mine = seen[static_cast<std::size_t>(t)]] {
      for (int i = 0; i < kEach; ++i) {
        const auto process = add(table);
        mine.push_back(process->id());
        table.hold(process->id(), process);
        EXPECT_TRUE(table.get(process->id()));
        EXPECT_FALSE(table.list().empty());
        EXPECT_EQ(table.release(process->id()), process);
        table.remove(process->id());
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<ProcessId> all;
  for (const auto& some : seen) all.insert(some.begin(), some.end());
  EXPECT_EQ(all.size(), std::size_t{kThreads * kEach});
  EXPECT_THAT(table.list(), IsEmpty());
}

}  // namespace
}  // namespace cordon::supervise
