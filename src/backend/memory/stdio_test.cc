// stdin in all its kinds, output in all its kinds, and what happens when nobody reads.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "backend/memory/test_support.h"
#include "base/fd.h"

namespace cordon::memory {
namespace {

Request with_input(Input input) {
  Request request;
  request.in = std::move(input);
  return request;
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader = base::Fd(ends[0]);
    writer = base::Fd(ends[1]);
  }
  base::Fd reader;
  base::Fd writer;
};

TEST(Stdin, EchoGivesBackTheGivenBytes) {  // C85
  EXPECT_EQ(run(Program().echo(), with_input(Input::bytes("hello"))).out, "hello");
}

TEST(Stdin, NoneIsEndOfFileAtOnce) {
  const Ran ran = run(Program().drain_stdin().out("eof"), with_input(Input::none()));
  EXPECT_EQ(ran.out, "eof");
  EXPECT_EQ(ran.outcome.wall, 0s);
}

TEST(Stdin, LinesAreAnsweredOneByOne) {
  const Program upper = Program().each_line([](Self& self, std::string_view line) {
    if (line == "quit") self.exit(4);
    self.out("<" + std::string(line) + ">");
  });
  EXPECT_EQ(run(upper, with_input(Input::bytes("a\n\nlast"))).out, "<a><><last>");
  const Ran quit = run(upper, with_input(Input::bytes("a\nquit\nb\n")));
  EXPECT_EQ(quit.out, "<a>");
  EXPECT_EQ(quit.outcome.exit_code, 4);
}

TEST(Stdin, ReadLineTakesOneAndLeavesTheRest) {
  const Ran ran =
      run(Program()
              .read_line([](Self& self, std::string_view line) { self.out(std::string(line)); })
              .out("|")
              .echo(),
          with_input(Input::bytes("first\nrest\n")));
  EXPECT_EQ(ran.out, "first|rest\n");
}

TEST(Stdin, ConversationThroughAPipe) {
  Manager manager;
  const auto process = start(manager, Program().each_line([](Self& self, std::string_view line) {
    self.sleep(1s).out("re: " + std::string(line) + "\n");
  }),
                             with_input(Input::pipe()));
  EventStream events = process->events();
  EXPECT_EQ(process->write_stdin("one\ntw"), 6U);
  EXPECT_EQ(events.next()->data.view(), "re: one\n");
  EXPECT_EQ(process->write_stdin("o\n"), 2U);
  EXPECT_EQ(events.next()->data.view(), "re: two\n");
  ASSERT_TRUE(process->close_stdin());
  ASSERT_TRUE(process->close_stdin());
  EXPECT_EQ(finish(*process).wall, 2s);
  EXPECT_EQ(process->write_stdin("x").error().code, ErrorCode::closed);
}

TEST(Stdin, BlocksArriveAsTheyAreWritten) {
  Manager manager;
  const auto process = start(manager, Program().each_block([](Self& self, std::string_view block) {
    self.out(std::to_string(block.size()) + ";");
  }),
                             with_input(Input::pipe()));
  EventStream events = process->events();
  ASSERT_TRUE(process->write_stdin("abc"));
  EXPECT_EQ(events.next()->data.view(), "3;");
  ASSERT_TRUE(process->write_stdin("de"));
  ASSERT_TRUE(process->close_stdin());
  EXPECT_EQ(read_to_end(std::move(events)).out, "2;");
}

TEST(Stdin, APipeThatNobodyReadsHoldsTheWriter) {
  Manager manager;
  const auto process =
      start(manager, Program().sleep(10s).drain_stdin(), with_input(Input::pipe()));
  const std::string much(100'000, 'x');
  EXPECT_EQ(process->write_stdin(much, 1s), 65536U);
  EXPECT_EQ(process->write_stdin(much, 0s), 0U);
  EXPECT_EQ(process->write_stdin(much), much.size());
  EXPECT_EQ(process->status().running, true);
  EXPECT_EQ(manager.clock().now().time_since_epoch(), 10s);
}

TEST(Stdin, WritingToAProgramThatClosedItIsAnError) {
  Manager manager;
  const auto process =
      start(manager, Program().sleep(1s).close_stdin().hang(), with_input(Input::pipe()));
  EXPECT_EQ(process->write_stdin(std::string(100'000, 'x')).error().code, ErrorCode::closed);
  EXPECT_EQ(process->write_stdin("y").error().code, ErrorCode::closed);
}

TEST(Stdin, OnlyAPipeCanBeWrittenTo) {
  Manager manager;
  const auto process = start(manager, Program().hang());
  EXPECT_EQ(process->write_stdin("x").error().code, ErrorCode::wrong_state);
  EXPECT_EQ(process->close_stdin().error().code, ErrorCode::wrong_state);
  Request request = with_input(Input::pipe());
  request.program = "program";
  const auto unstarted = *manager.create(request);
  EXPECT_EQ(unstarted->write_stdin("x").error().code, ErrorCode::wrong_state);
}

TEST(Stdin, DescriptorIsReadForReal) {
  Pipe pipe;
  ASSERT_EQ(::write(pipe.writer.get(), "real\n", 5), 5);
  pipe.writer.reset();
  Manager manager;
  const auto process =
      start(manager, Program().echo(), with_input(Input::from_fd(pipe.reader.get())));
  pipe.reader.reset();  // borrowed until start() returns
  EXPECT_EQ(read_to_end(process->events()).out, "real\n");
}

TEST(Stdin, ClosedDescriptorFailsTheStart) {
  Manager manager;
  manager.add("program", Program());
  Request request = with_input(Input::from_fd(1'000'000));
  request.program = "program";
  const auto started = (*manager.create(request))->start();
  EXPECT_EQ(started.error().stage, "stdio");
}

TEST(Output, DescriptorIsWrittenForReal) {
  Pipe pipe;
  Request request;
  request.out = Output::to_fd(pipe.writer.get());
  const Ran ran = run(Program().out("to the pipe").err("event"), request);
  std::array<char, 64> text{};
  EXPECT_EQ(::read(pipe.reader.get(), text.data(), text.size()), 11);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err, "event");
  EXPECT_EQ(ran.outcome.output_bytes, 5U);
}

TEST(Output, AClosedReaderMeansSigpipeForTheProgramOnly) {
  Pipe pipe;
  pipe.reader.reset();
  Request request;
  request.out = Output::to_fd(pipe.writer.get());
  EXPECT_EQ(run(Program().out("x").hang(), request).outcome.termination.signal, SIGPIPE);
  EXPECT_EQ(run(Program().ignore(SIGPIPE).out("x").exit(1), request).outcome.exit_code, 1);
}

TEST(Output, DiscardedOutputGoesNowhereAndNeverBlocks) {
  Request request;
  request.out = Output::discard();
  const Ran ran = run(Program().flood(10 << 20), request);
  EXPECT_EQ(ran.events.size(), 1U);
  EXPECT_EQ(ran.outcome.output_bytes, 0U);
}

TEST(Output, IsFramedAsAsked) {
  Request request;
  request.out = Output::events({.mode = OutputMode::line});
  request.err = Output::events({.mode = OutputMode::chunked, .chunk_size = 2});
  const Ran ran = run(Program().out("on").err("abc").out("e\r\ntwo"), request);
  ASSERT_EQ(ran.events.size(), 5U);
  EXPECT_EQ(ran.events[0].data.view(), "ab");
  EXPECT_EQ(ran.events[1].data.view(), "one");
  EXPECT_EQ(ran.events[2].data.view(), "two");
  EXPECT_EQ(ran.events[3].data.view(), "c");
}

TEST(Output, NobodyReadingNeverBlocksWaitAndKeepsTheNewest) {  // C129
  Manager manager;
  Request request;
  request.event_buffer = 256 * 1024;
  const auto process = start(manager, Program().flood(8 << 20).flood_err(1 << 20), request);
  const Outcome outcome = finish(*process);
  EXPECT_EQ(outcome.output_bytes, 9U << 20);
  EXPECT_TRUE(outcome.output_truncated);
  const Ran ran = read_to_end(process->events());
  EXPECT_LE(ran.out.size() + ran.err.size(), request.event_buffer);
  EXPECT_GT(ran.err.size(), 0U);
  EXPECT_EQ(ran.events.front().dropped + ran.out.size() + ran.err.size(), 9U << 20);
}

TEST(Output, HoldMakesTheProgramWaitForItsReader) {
  Manager manager;
  Request request;
  request.event_buffer = 128 * 1024;
  const auto process = start(manager, Program().flood(2 << 20), request);
  EventStream events = process->events();
  EXPECT_FALSE(process->wait_for(1min));  // 2 MiB would take 32 ms
  const Ran ran = read_to_end(std::move(events));
  EXPECT_EQ(ran.out.size(), 2U << 20);
  EXPECT_FALSE(ran.outcome.output_truncated);
}

TEST(Output, DetachingTheReaderSetsAHeldProgramFree) {
  Manager manager;
  Request request;
  request.event_buffer = 128 * 1024;
  const auto process = start(manager, Program().flood(2 << 20), request);
  {
    const EventStream events = process->events();
    EXPECT_FALSE(process->wait_for(1s));
  }
  EXPECT_TRUE(finish(*process).output_truncated);
}

TEST(Output, DropOldestCountsWhatIsMissing) {
  Manager manager;
  Request request;
  request.event_buffer = 128 * 1024;
  request.overflow = Overflow::drop_oldest;
  const auto process = start(manager, Program().flood(2 << 20).out("end"), request);
  EventStream events = process->events();
  (void)finish(*process);
  const Ran ran = read_to_end(std::move(events));
  EXPECT_TRUE(ran.out.ends_with("end"));
  EXPECT_GT(ran.events.front().sequence, 0U);
  EXPECT_EQ(ran.events.front().dropped + ran.out.size(), (2U << 20) + 3);
}

TEST(Output, EndRunEndsTheRunWithVerdictOutput) {
  Manager manager;
  Request request;
  request.event_buffer = 128 * 1024;
  request.overflow = Overflow::end_run;
  const auto process = start(manager, Program().flood(), request);
  const EventStream events = process->events();
  EXPECT_EQ(finish(*process).verdict, Verdict::output);
}

TEST(Output, UnreadEventsGoToTheNextStream) {  // C84
  Manager manager;
  const auto process = start(manager, Program().out("a").out("b").out("c"));
  {
    EventStream first = process->events();
    (void)finish(*process);
    EXPECT_EQ(first.next()->data.view(), "a");
  }
  EXPECT_EQ(read_to_end(process->events()).out, "bc");
  EXPECT_EQ(read_to_end(process->events()).events.size(), 0U);
}

TEST(Output, ExitEventIsThereForALateReader) {
  Manager manager;
  const auto process = start(manager, Program().exit(3));
  (void)finish(*process);
  const Ran ran = read_to_end(process->events());
  ASSERT_EQ(ran.events.size(), 1U);
  EXPECT_EQ(ran.outcome.exit_code, 3);
}

TEST(Output, NextForGivesUpAtItsTimeAndLosesNothing) {
  Manager manager;
  const auto process = start(manager, Program().sleep(10s).out("x"));
  EventStream events = process->events();
  EXPECT_EQ(events.next_for(9s).error().code, ErrorCode::timed_out);
  EXPECT_EQ(manager.clock().now().time_since_epoch(), 9s);
  EXPECT_EQ(events.next()->at, 10s);
}

TEST(Terminal, CarriesBothStreamsAndItsSize) {
  Manager manager;
  Request request = with_input(Input::pipe());
  request.terminal = TerminalSize{.rows = 10, .columns = 20};
  const auto show = [](Self& self) {
    self.err(std::to_string(self.terminal()->rows) + "x" +
             std::to_string(self.terminal()->columns) + " ");
  };
  const auto process =
      start(manager, Program().on_signal(SIGWINCH, Program().step(show)).step(show).drain_stdin(),
            request);
  EventStream events = process->events();
  ASSERT_TRUE(process->resize_terminal({.rows = 30, .columns = 40}));
  ASSERT_TRUE(process->close_stdin());
  const Ran ran = read_to_end(std::move(events));
  EXPECT_EQ(ran.out, "10x20 30x40 ");
  EXPECT_EQ(ran.err, "");
}

TEST(Terminal, ResizingNeedsOne) {
  Manager manager;
  const auto process = start(manager, Program().hang());
  EXPECT_EQ(process->resize_terminal({}).error().code, ErrorCode::wrong_state);
}

}  // namespace
}  // namespace cordon::memory
