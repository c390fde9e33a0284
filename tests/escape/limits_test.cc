// Bombs, and the ends they come to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "escape/runs.h"
#include "support/eventually.h"

namespace cordon::escape {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Field;

constexpr std::uint64_t kMemory = 32 << 20;
constexpr std::uint64_t kProcesses = 24;

class Bombs : public Limited {
 protected:
  Request bomb(Words arguments) {
    Request request = request_for(bait_, std::move(arguments));
    request.limits.memory_bytes = kMemory;
    return request;
  }
  // Without a limit of the memory, which many processes would reach first.
  Request forks(Words arguments) {
    Request request = request_for(bait_, std::move(arguments));
    request.limits.processes = kProcesses;
    return request;
  }
  // Sixteen times what is allowed.
  static std::string too_much() { return std::to_string(16 * kMemory); }
};

// Processes of this pid namespace, as the host sees them: those of its own and of its children.
std::uint64_t processes_in(const struct stat& pid_namespace) {
  std::uint64_t count = 0;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    struct stat found{};
    const std::string link = entry.path().string() + "/ns/pid";
    if (::stat(link.c_str(), &found) == 0 && found.st_ino == pid_namespace.st_ino) ++count;
  }
  return count;
}

void expect_memory_held(const Outcome& outcome) {
  EXPECT_EQ(outcome.verdict, Verdict::memory) << outcome.out;
  EXPECT_TRUE(outcome.memory_exceeded);
  EXPECT_LE(outcome.usage.memory_peak_bytes.value_or(~0ULL), kMemory);
}

TEST_F(Bombs, MemoryBombOfHeapEnds) {
  expect_memory_held(run(manager(), bomb({"heap", too_much()})));
}

TEST_F(Bombs, MemoryBombOfManyProcessesEnds) {
  expect_memory_held(run(manager(), bomb({"heaps", too_much()})));
}

TEST_F(Bombs, MemoryBombOfAnonymousFileEnds) {
  expect_memory_held(run(manager(), bomb({"memfd", too_much()})));
}

TEST_F(Bombs, MemoryBombOfSharedMemoryEnds) {
  expect_memory_held(run(manager(), bomb({"shared", too_much()})));
}

// Where the file system is full before the limit is reached, the write fails inside.
void expect_held_or_full(const Outcome& outcome) {
  EXPECT_LE(outcome.usage.memory_peak_bytes.value_or(~0ULL), kMemory);
  if (outcome.verdict != Verdict::memory) {
    EXPECT_THAT(outcome.out, testing::HasSubstr("No space left"));
  }
}

TEST_F(Bombs, MemoryBombOfTmpEnds) {
  expect_held_or_full(run(manager(), bomb({"file", "/tmp/bomb", too_much()})));
}

TEST_F(Bombs, MemoryBombOfDevShmEnds) {
  expect_held_or_full(run(manager(), bomb({"file", "/dev/shm/bomb", too_much()})));
}

TEST_F(Bombs, MemoryBombOfGrantedTmpfsEnds) {
  Request request = bomb({"file", "/scratch/bomb", too_much()});
  request.grants.push_back(Grant::tmpfs("/scratch", 64 * kMemory));
  expect_memory_held(run(manager(), request));
}

TEST_F(Bombs, MemoryIsNotHeldWithoutTheGroup) {
  const auto weak = manager_without({"cgroup"}).value();
  Request request = bomb({"heap", std::to_string(2 * kMemory)});
  const Outcome outcome = run(*weak, request);
  if (outcome.verdict == Verdict::memory) GTEST_SKIP() << "cgroup v2: the clone itself joins";
  EXPECT_TRUE(has_reached(outcome));
}

TEST_F(Bombs, FullTmpIsAnErrorInside) {
  Request request = request_for(bait_, {"file", "/tmp/large", std::to_string(100 << 20)});
  request.limits.memory_bytes = 256 << 20;
  const Outcome outcome = run(manager(), request);
  EXPECT_TRUE(was_stopped(outcome));
  EXPECT_EQ(outcome.verdict, Verdict::exited);
  EXPECT_THAT(outcome.out, testing::HasSubstr("No space left"));
}

TEST_F(Bombs, OomInsideLeavesCallerWithMuchMoreAlive) {
  constexpr std::size_t kSize = std::size_t{1} << 30;
  void* const mine = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  ASSERT_NE(mine, MAP_FAILED);
  std::memset(mine, 1, 4096);
  expect_memory_held(run(manager(), bomb({"heap", too_much()})));
  ::munmap(mine, kSize);
}

TEST_F(Bombs, DeathByItsOwnSigkillIsNotTakenForMemory) {
  const Outcome outcome = run(manager(), bomb({"kill-oneself"}));
  EXPECT_EQ(outcome.verdict, Verdict::signaled);
  EXPECT_EQ(outcome.termination.signal, SIGKILL);
  EXPECT_FALSE(outcome.memory_exceeded);
}

TEST_F(Bombs, ForkBombIsContained) {
  Request request = forks({"fork-bomb"});
  request.timeout = 1s;
  Started started = start(request);
  ASSERT_EQ(started.line, "ready");
  const std::string link = "/proc/" + std::to_string(*started.process->os_pid()) + "/ns/pid";
  struct stat inside{};
  ASSERT_EQ(::stat(link.c_str(), &inside), 0);
  std::uint64_t most = 0;
  while (started.process->running()) {
    most = std::max(most, processes_in(inside));
    if (started.process->wait_for(20ms)) break;
  }
  const Outcome outcome = started.process->wait().value();
  EXPECT_GT(most, 2U) << "no bomb was seen";
  EXPECT_LE(most, kProcesses + kPlace.others);
  // The program's own zombie, and an init that is alone, are put away in the background.
  const std::uint64_t stay = kPlace.long_lived() ? kPlace.others : 0;
  EXPECT_TRUE(support::eventually([&] { return processes_in(inside) == stay; }));
  EXPECT_EQ(outcome.verdict, Verdict::timeout);
  EXPECT_LE(outcome.usage.processes_peak.value_or(0), kProcesses);
  EXPECT_THAT(outcome.limits_hit, Contains(Field(&LimitHit::name, "processes")));
}

TEST_F(Bombs, ForkBombEndsTheRunWhereThatWasAsked) {
  Request request = forks({"fork-bomb"});
  request.end_at_process_limit = true;
  const Outcome outcome = run(manager(), request);
  EXPECT_EQ(outcome.verdict, Verdict::processes);
  EXPECT_LT(outcome.wall, 5s);
}

TEST_F(Bombs, NoMoreProcessesThanAllowed) {
  EXPECT_TRUE(was_stopped(run(manager(), forks({"forks", std::to_string(2 * kProcesses)}))));
}

TEST_F(Bombs, ProcessesAreNotHeldWithoutTheGroup) {
  const auto weak = manager_without({"cgroup"}).value();
  const Outcome outcome = run(*weak, forks({"forks", std::to_string(2 * kProcesses)}));
  if (was_stopped(outcome)) GTEST_SKIP() << "cgroup v2: the clone itself joins";
  EXPECT_TRUE(has_reached(outcome));
}

}  // namespace
}  // namespace cordon::escape
