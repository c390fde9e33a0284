// Each limit, each verdict, and the figures.
#include <csignal>

#include "backend/memory/test_support.h"

namespace cordon::memory {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

TEST(Limits, TimeoutEndsTheRun) {
  Request request;
  request.timeout = 100ms;
  const Ran ran = run(Program().sleep(30s), request);
  EXPECT_EQ(ran.outcome.verdict, Verdict::timeout);
  EXPECT_EQ(ran.outcome.termination.code, 5);
  EXPECT_EQ(ran.outcome.termination.signal, SIGTERM);
  EXPECT_EQ(ran.outcome.wall, 100ms);
  EXPECT_EQ(ran.outcome.limit->name, "timeout");
}

TEST(Limits, DefaultTimeoutIsFiveMinutes) {  // C30
  const Ran ran = run(Program().hang());
  EXPECT_EQ(ran.outcome.verdict, Verdict::timeout);
  EXPECT_EQ(ran.outcome.wall, 5min);
}

TEST(Limits, TimeoutLeavesTheRequestsGrace) {
  Request request;
  request.timeout = 1s;
  request.grace = 2s;
  const Ran ran = run(Program().ignore(SIGTERM).hang(), request);
  EXPECT_EQ(ran.outcome.verdict, Verdict::timeout);
  EXPECT_EQ(ran.outcome.termination.signal, SIGKILL);
  EXPECT_EQ(ran.outcome.wall, 3s);
}

TEST(Limits, NoTimeoutMeansNone) {
  Request request;
  request.timeout = kNoTimeout;
  EXPECT_EQ(run(Program().sleep(100h).exit(1), request).outcome.exit_code, 1);
}

TEST(Limits, CpuTimeIsProcessorTimeNotWallClock) {
  const auto limits = with_limits({.cpu_time = 2s});
  EXPECT_EQ(run(Program().sleep(1min).use_cpu(1s), limits).outcome.verdict, Verdict::exited);
  const Ran ran = run(Program().use_cpu(1s).sleep(1min).use_cpu(3s, 1s), limits);
  EXPECT_EQ(ran.outcome.verdict, Verdict::cpu_time);
  EXPECT_EQ(ran.outcome.wall, 62s);
  EXPECT_EQ(ran.outcome.limit->limit, 2000U);
  EXPECT_EQ(ran.outcome.limit->observed, 2000U);
}

TEST(Limits, CpuTimeOfTheWholeTreeCounts) {
  const Program burn = Program().use_cpu(10s);
  const Ran ran = run(Program().fork(burn).fork(burn).then(burn), with_limits({.cpu_time = 3s}));
  EXPECT_EQ(ran.outcome.verdict, Verdict::cpu_time);
  EXPECT_EQ(ran.outcome.wall, 1s);
}

TEST(Limits, CpuShareStretchesTheWork) {
  const Ran ran = run(Program().use_cpu(1s, 500ms), with_limits({.cpu_millicores = 250}));
  EXPECT_EQ(ran.outcome.wall, 6s);
  EXPECT_EQ(ran.outcome.usage.cpu_user, 1s);
  EXPECT_EQ(ran.outcome.usage.cpu_system, 500ms);
}

TEST(Limits, MemoryBeyondTheLimitEndsTheRun) {
  const auto limits = with_limits({.memory_bytes = 50 * kMiB});
  const Ran ok = run(Program().use_memory(50 * kMiB).use_memory(kMiB), limits);
  EXPECT_EQ(ok.outcome.verdict, Verdict::exited);
  EXPECT_EQ(ok.outcome.usage.memory_peak_bytes, 50 * kMiB);

  const Ran ran = run(Program().use_memory(51 * kMiB).out("never"), limits);
  EXPECT_EQ(ran.outcome.verdict, Verdict::memory);
  EXPECT_TRUE(ran.outcome.memory_exceeded);
  EXPECT_EQ(ran.outcome.limit->observed, 51 * kMiB);
  EXPECT_EQ(ran.out, "");
}

TEST(Limits, MemoryOfTheWholeTreeCounts) {
  const Ran ran =
      run(Program().fork(Program().use_memory(30 * kMiB).hang()).use_memory(30 * kMiB).sleep(1s),
          with_limits({.memory_bytes = 50 * kMiB}));
  EXPECT_EQ(ran.outcome.verdict, Verdict::memory);
}

TEST(Limits, FileBeyondTheLimitIsSigxfsz) {
  const auto limits = with_limits({.file_size_bytes = 1000});
  EXPECT_EQ(run(Program().write_file(1000), limits).outcome.verdict, Verdict::exited);
  const Ran ran = run(Program().write_file(1001), limits);
  EXPECT_EQ(ran.outcome.verdict, Verdict::file_size);
  EXPECT_EQ(ran.outcome.termination.signal, SIGXFSZ);
  const Ran ignoring = run(Program().ignore(SIGXFSZ).write_file(1001).exit(1), limits);
  EXPECT_EQ(ignoring.outcome.verdict, Verdict::exited);
  EXPECT_EQ(ignoring.outcome.limits_hit.at(0).name, "file_size");
}

TEST(Limits, ForkBeyondTheLimitFailsAndIsListed) {
  const Ran ran = run(Program().fork(10, Program().hang(), Program().err("no fork").exit(11)),
                      with_limits({.processes = 4}));
  EXPECT_EQ(ran.outcome.verdict, Verdict::exited);
  EXPECT_EQ(ran.outcome.exit_code, 11);
  EXPECT_EQ(ran.err, "no fork");
  ASSERT_EQ(ran.outcome.limits_hit.size(), 1U);
  EXPECT_EQ(ran.outcome.limits_hit[0].name, "processes");
  EXPECT_EQ(ran.outcome.limits_hit[0].limit, 4U);
  EXPECT_EQ(ran.outcome.usage.processes_peak, 4U);
}

TEST(Limits, EndedProgramsDoNotCountAgainstTheLimit) {
  const Ran ran =
      run(Program().repeat(100, Program().fork(1, Program(), Program().exit(1)).wait_children()),
          with_limits({.processes = 2}));
  EXPECT_EQ(ran.outcome.exit_code, 0);
}

TEST(Limits, OpeningTooManyFilesFailsAndIsListed) {
  const auto limits = with_limits({.open_files = 10});
  EXPECT_TRUE(run(Program().open_files(7), limits).outcome.limits_hit.empty());
  const Ran ran = run(Program().open_files(8, Program().exit(24)), limits);
  EXPECT_EQ(ran.outcome.exit_code, 24);
  EXPECT_EQ(ran.outcome.limits_hit.at(0).name, "open_files");
}

TEST(Limits, OutputBeyondTheLimitEndsTheRunAndIsCutThere) {
  const Ran ran =
      run(Program().out("12345").err("678").out("9abcdef"), with_limits({.output_bytes = 10}));
  EXPECT_EQ(ran.outcome.verdict, Verdict::output);
  EXPECT_TRUE(ran.outcome.output_truncated);
  EXPECT_EQ(ran.out, "123459a");
  EXPECT_EQ(ran.outcome.limit->limit, 10U);
  EXPECT_EQ(ran.outcome.limit->observed, 15U);
}

TEST(Limits, ExactlyTheOutputLimitIsAllowed) {
  EXPECT_EQ(run(Program().out("1234567890"), with_limits({.output_bytes = 10})).outcome.verdict,
            Verdict::exited);
}

TEST(Limits, ManagersDefaultsFillWhatTheRequestLeavesOpen) {  // C15
  Manager manager;
  ASSERT_TRUE(manager.set_default_limits({.memory_bytes = kMiB, .processes = 7}));
  manager.add("program", Program().use_memory(2 * kMiB));
  Request request = request_for("program");
  request.limits.processes = 3;
  const auto process = start(manager, request);
  EXPECT_EQ(process->limits(), (Limits{.memory_bytes = kMiB, .processes = 3}));
  EXPECT_EQ(finish(*process).verdict, Verdict::memory);
  EXPECT_EQ(manager.set_default_limits({.processes = 0}).error().code, ErrorCode::invalid_argument);
}

TEST(Limits, CanBeSetBeforeTheStartOnly) {  // C7, C8
  Manager manager;
  manager.add("program", Program().use_memory(2 * kMiB));
  const auto process = *manager.create("program", {});
  ASSERT_TRUE(process->set_limits({.memory_bytes = kMiB}));
  EXPECT_EQ(process->limits().memory_bytes, kMiB);
  ASSERT_TRUE(process->start());
  EXPECT_EQ(process->set_limits({}).error().code, ErrorCode::wrong_state);
  EXPECT_EQ(finish(*process).verdict, Verdict::memory);
}

TEST(Limits, TheFirstCauseDecidesTheVerdict) {
  Manager manager;
  Request request;
  request.timeout = 1s;
  request.limits.memory_bytes = kMiB;
  const Ran ran =
      run(manager, Program().on_signal(SIGTERM, Program().use_memory(2 * kMiB)).hang(), request);
  EXPECT_EQ(ran.outcome.verdict, Verdict::timeout);
}

TEST(StatusFigures, AreThoseOfTheScript) {  // C110–C113
  Manager manager(Options{.start = WallTime(1000s)});
  manager.advance(5s);
  const auto process = start(manager, Program().use_memory(3 * kMiB).use_cpu(10s).sleep(10s));
  EXPECT_EQ(process->status().start_time, WallTime(1005s));
  EXPECT_EQ(process->status().cpu_percent, std::nullopt);
  EXPECT_FALSE(process->wait_for(4s));
  Status status = process->status();
  EXPECT_EQ(status.cpu_percent, 100.0);
  EXPECT_EQ(status.memory_bytes, 3 * kMiB);
  EXPECT_EQ(status.os_pid, process->os_pid());
  EXPECT_TRUE(status.running);
  EXPECT_FALSE(process->wait_for(8s));  // 6 s of work, 2 s of sleep
  EXPECT_EQ(process->status().cpu_percent, 75.0);
  (void)finish(*process);
  status = process->status();
  EXPECT_FALSE(status.running);
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_EQ(status.os_pid, std::nullopt);
}

}  // namespace
}  // namespace cordon::memory
