// Writing to a program, and what happens when it does not read.
#include <csignal>
#include <thread>

#include "conformance/world.h"
#include "support/slowness.h"

namespace cordon::conformance {
namespace {

using namespace std::chrono_literals;

class Stdin : public Conformance {
 protected:
  std::shared_ptr<Process> start_with_pipe(Request request) {
    request.in = Input::pipe();
    return start(std::move(request));
  }
};

TEST_P(Stdin, EmptyByDefault) { EXPECT_EQ(start(world().echoes())->wait()->output_bytes, 0U); }

TEST_P(Stdin, SourceIsGivenWholeThenEnds) {  // C4
  const std::string data(1 << 20, 's');
  Request request = world().echoes();
  request.in = Input::bytes(data);
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  EXPECT_EQ(collect(events).out, data);
}

TEST_P(Stdin, InteractiveWritesArriveAsTheyAreMade) {  // C85
  Request request = world().echoes();
  request.in = Input::pipe();
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  for (const std::string message : {"first", "second", "third"}) {
    EXPECT_EQ(process->write_stdin(message), message.size());
    std::string echoed;
    while (echoed.size() < message.size()) echoed += events.next()->data.view();
    EXPECT_EQ(echoed, message);
  }
  ASSERT_TRUE(process->close_stdin());
  EXPECT_EQ(collect(events).outcome->exit_code, 0);
}

TEST_P(Stdin, ClosingTwiceIsNoError) {
  const auto process = start_with_pipe(world().echoes());
  EXPECT_TRUE(process->close_stdin());
  EXPECT_TRUE(process->close_stdin());
  EXPECT_TRUE(process->wait());
}

TEST_P(Stdin, WritingAfterCloseIsAnError) {
  auto [process, events] = [&] {
    Request request = world().hangs();
    request.in = Input::pipe();
    return start_until_ready(std::move(request));
  }();
  ASSERT_TRUE(process->close_stdin());
  EXPECT_EQ(process->write_stdin("x").error().code, ErrorCode::closed);
}

TEST_P(Stdin, ProgramThatClosesItIsAnErrorAndNoSignal) {
  if (!GetParam().tells_closing) GTEST_SKIP() << "this backend keeps stdin open for the program";
  Request request = world().closes_stdin();
  request.in = Input::pipe();
  auto [process, events] = start_until_ready(std::move(request));
  const auto written = process->write_stdin("nobody reads this");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::closed);
  EXPECT_TRUE(process->running());
}

TEST_P(Stdin, ProgramThatEndsIsAnErrorAndNoSignal) {
  const auto process = start_with_pipe(world().exits(0));
  ASSERT_TRUE(process->wait());
  EXPECT_EQ(process->write_stdin("too late").error().code, ErrorCode::closed);
}

TEST_P(Stdin, SlowProgramHoldsTheWriterBack) {
  Request request = world().hangs();  // never reads
  request.in = Input::pipe();
  auto [process, events] = start_until_ready(std::move(request));
  const std::string data(4 << 20, 'w');
  const auto written = process->write_stdin(data, 30ms);
  ASSERT_TRUE(written);
  EXPECT_GT(*written, 0U);
  EXPECT_LT(*written, data.size());
  EXPECT_EQ(process->write_stdin(data, 0ms), 0U);
}

TEST_P(Stdin, BlockedWriterIsFreedByTheEnd) {
  Request request = world().hangs();
  request.in = Input::pipe();
  request.timeout = support::enough(100ms);
  auto [process, events] = start_until_ready(std::move(request));
  const auto written = process->write_stdin(std::string(4 << 20, 'w'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::closed);
  EXPECT_EQ(process->wait()->verdict, Verdict::timeout);
}

TEST_P(Stdin, OnlyAPipeCanBeWrittenTo) {
  auto [process, events] = start_until_ready(world().hangs());
  EXPECT_EQ(process->write_stdin("x").error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->close_stdin().error().code, ErrorCode::wrong_state);
}

TEST_P(Stdin, EchoOfMoreThanAllBuffersFlows) {
  Request request = world().echoes();
  request.in = Input::pipe();
  request.timeout = kNoTimeout;  // virtual time must not run ahead of the writer's thread
  const auto process = create(std::move(request));
  EventStream events = process->events();
  ASSERT_TRUE(process->start());
  const std::string data(3 << 20, 'e');
  std::thread writer([&] {
    EXPECT_EQ(process->write_stdin(data), data.size());
    EXPECT_TRUE(process->close_stdin());
  });
  EXPECT_EQ(collect(events).out.size(), data.size());
  writer.join();
}

CORDON_CONFORMANCE_SUITE(Stdin);

}  // namespace
}  // namespace cordon::conformance
