// Nothing outlives a supervisor that is killed, at whatever moment.
//   CORDON_SOAK_KILLS  how often
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

// Starts trees that do not want to end, one after the other, until it is killed.
[[noreturn]] void supervise(int ready, const std::string& mark) {
  auto manager = make_manager();
  if (!manager) ::_exit(1);
  (void)!::write(ready, "", 1);
  std::vector<std::shared_ptr<Process>> started;
  for (int i = 0; i < 16; ++i) {
    Request request = misbehave({"stubborn", mark});
    request.out = Output::discard();
    request.timeout = 60s;
    auto process = manager->create(std::move(request));
    if (!process || !(*process)->start()) break;
    started.push_back(std::move(*process));
  }
  for (;;) ::pause();
}

void kill_at_random_moments(int count) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
  const std::string mark = "cordon-mark-" + std::to_string(::getpid());
  std::mt19937 random(std::random_device{}());
  std::uniform_int_distribution<int> moment(0, 30'000);
  const Traces before = traces();
  std::vector<pid_t> killed;
  Duration slowest{0};
  for (int i = 0; i < count; ++i) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t supervisor = ::fork();
    ASSERT_GE(supervisor, 0);
    if (supervisor == 0) supervise(ready[1], mark);
    char byte = 0;
    ::close(ready[1]);
    // Every fourth is killed while it starts itself.
    if (i % 4 != 3) {
      EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    }
    ::close(ready[0]);
    std::this_thread::sleep_for(std::chrono::microseconds(moment(random)));
    const auto begin = Clock::now();
    ::kill(supervisor, SIGKILL);
    EXPECT_TRUE(reap_all(10s)) << "something outlives its supervisor";
    EXPECT_THAT(processes_marked(mark), testing::IsEmpty());
    slowest = std::max<Duration>(slowest, Clock::now() - begin);
    killed.push_back(supervisor);
    if (testing::Test::HasFailure()) break;
  }
  // The groups are left to the next supervisor.
  make_manager().reset();
  std::size_t left = 0;
  for (const pid_t supervisor : killed) left += groups_of(supervisor);
  EXPECT_EQ(left, 0U);
  EXPECT_EQ(traces_settled(before), before);
  std::printf("figure: %d kills, 0 survivors after at most %lld ms\n", count,
              static_cast<long long>(slowest / 1ms));
}

class KilledSupervisor : public testing::TestWithParam<bool> {};

TEST_P(KilledSupervisor, LeavesNothing) {
  CORDON_NEEDS_SANDBOX(GetParam());
  in_own_process(GetParam() ? kOrdinaryUser : ::geteuid(),
                 [] { kill_at_random_moments(count_from("CORDON_SOAK_KILLS", 4)); });
}

INSTANTIATE_TEST_SUITE_P(, KilledSupervisor, testing::Bool(), [](const auto& ordinary) {
  return ordinary.param ? "OrdinaryUser" : "Caller";
});

}  // namespace
}  // namespace cordon::linux_tests
