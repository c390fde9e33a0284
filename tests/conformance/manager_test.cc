// The process table and the defaults.
#include <thread>

#include "conformance/world.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;

class Table : public Conformance {};

TEST_P(Table, FindsProcessesById) {  // C13 C14
  const auto a = create(world().exits(0));
  const auto b = create(world().exits(0));
  EXPECT_NE(a->id(), b->id());
  EXPECT_EQ(manager().get(a->id()).value(), a);
  EXPECT_EQ(manager().list(), (std::vector{a, b}));
  const auto missing = manager().get(987654321);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

TEST_P(Table, IdsAreNeverReused) {
  ProcessId last = 0;
  for (int i = 0; i < 20; ++i) {
    const auto process = start(world().exits(0));
    EXPECT_GT(process->id(), last);
    last = process->id();
    ASSERT_TRUE(process->wait());
  }
}

TEST_P(Table, RunningProcessLivesOnWithoutItsHandle) {
  auto process = start(world().hangs());
  const ProcessId id = process->id();
  process.reset();
  const auto again = manager().get(id);
  ASSERT_TRUE(again);
  EXPECT_TRUE((*again)->running());
  ASSERT_TRUE((*again)->kill());
  EXPECT_TRUE((*again)->wait());
}

TEST_P(Table, EndedProcessIsForgottenWithItsHandle) {
  auto process = start(world().exits(0));
  const ProcessId id = process->id();
  ASSERT_TRUE(process->wait());
  EXPECT_TRUE(manager().get(id));
  process.reset();
  // Another thread may be on its way out of the same process.
  while (manager().get(id)) std::this_thread::yield();
  EXPECT_TRUE(manager().list().empty());
}

TEST_P(Table, DefaultLimitsFillWhatARequestLeavesOpen) {  // C15 C16
  const Limits defaults{.file_size_bytes = 1 << 20, .open_files = 100};
  ASSERT_TRUE(manager().set_default_limits(defaults));
  EXPECT_EQ(manager().default_limits(), defaults);
  Request request = world().exits(0);
  request.limits.open_files = 50;
  const auto process = create(std::move(request));
  EXPECT_EQ(process->limits(), (Limits{.file_size_bytes = 1 << 20, .open_files = 50}));
  EXPECT_EQ(manager().set_default_limits({.processes = 0}).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(manager().default_limits(), defaults);
}

TEST_P(Table, CreateByNameAndArguments) {  // C12
  const Request request = world().exits(7);
  const auto process = manager().create(request.program, request.args);
  ASSERT_TRUE(process);
  ASSERT_TRUE((*process)->start());
  EXPECT_EQ((*process)->wait()->exit_code, 7);
}

TEST_P(Table, ManyThreadsShareOneManager) {  // C17
  constexpr int kThreads = 8;
  constexpr int kEach = 10;
  const Request request = world().exits(5);
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        const auto process = manager().create(request);
        if (process && (*process)->start() && (*process)->wait()->exit_code == 5) ++good;
        (void)manager().list();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, kThreads * kEach);
}

TEST_P(Table, CapabilitiesNameTheBackendAndItsGaps) {
  const Capabilities capabilities = manager().capabilities();
  EXPECT_FALSE(capabilities.backend.empty());
  for (const auto* guarantee :
       {&capabilities.enforcement.memory, &capabilities.enforcement.network,
        &capabilities.enforcement.filesystem, &capabilities.enforcement.processes}) {
    if (guarantee->level != Guarantee::Level::enforced) {
      EXPECT_FALSE(guarantee->note.empty()) << "a gap without a reason";
      EXPECT_FALSE(capabilities.gaps.empty());
    }
  }
}

CORDON_CONFORMANCE_SUITE(Table);

}  // namespace
}  // namespace cordon::conformance
