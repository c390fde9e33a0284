// Arguments, environment, directory and streams reach the program as they are.
#include <csignal>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Streams : public CliTest {};

std::string every_byte(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i * 31 + i / 251);
  return bytes;
}

TEST_F(Streams, PassByteForByte) {
  const std::string bytes = every_byte(1'000'000);
  const Ended ended = Command({"run", "--", "cat"}).input(bytes).run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(ended.out == bytes);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Streams, PassByteForByteWhenCounted) {
  const std::string bytes = every_byte(1'000'000);
  const Ended ended =
      Command({"run", "--output", "10M", "--", "sh", "-c", "cat; echo e >&2"}).input(bytes).run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_TRUE(ended.out == bytes);
  EXPECT_EQ(ended.err, "e\n");
}

TEST_F(Streams, AreTheCommandsOwnByDefault) {
  const Ended ended = Command({"run", "--", "sh", "-c", "echo a; echo b >&2; echo c"})
                          .redirect(1, path("both"))
                          .redirect(2, path("both"))
                          .run();
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(read_file(path("both")), "a\nb\nc\n");
}

TEST_F(Streams, AnOutputLimitCutsWhatIsPassedOn) {
  const Ended ended = cordon({"run", "--output", "5", "--", "echo", "123456789"});
  EXPECT_EQ(ended.status, 124);
  EXPECT_EQ(ended.out, "12345");
}

TEST_F(Streams, AReaderThatLeavesEndsTheProgramAsItWouldWithoutUs) {
  // "yes" would go on for ever.
  for (const char* const options : {"", "--output 1T"}) {
    const Ended ended = Command::program({"sh", "-c",
                                          std::string("(" CORDON_COMMAND " run ") + options +
                                              " -- yes; echo $? >&2) | head -n 1"})
                            .run();
    EXPECT_EQ(ended.out, "y\n");
    EXPECT_EQ(ended.err, "141\n");
  }
}

TEST_F(Streams, OptionsEndAtTheProgram) {
  EXPECT_EQ(cordon({"run", "echo", "--timeout", "5", "--json", "--", "-x"}).out,
            "--timeout 5 --json -- -x\n");
  EXPECT_EQ(cordon({"run", "echo", "-", "--help"}).out, "- --help\n");
  EXPECT_EQ(cordon({"run", "--timeout=10s", "--", "echo", "--"}).out, "--\n");
}

TEST_F(Streams, ArgumentsAreNeverInterpreted) {
  const Ended ended = cordon({"run", "--", "printf", "%s|", "", " a  b ", "$HOME", "*", "[x,y]",
                              "'", "\"", "\\", "line\nline", "%%", "++"});
  EXPECT_EQ(ended.out, "| a  b |$HOME|*|[x,y]|'|\"|\\|line\nline|%%|++|");
}

TEST_F(Streams, TheLastOfARepeatedOptionCounts) {
  EXPECT_EQ(cordon({"run", "--files", "100", "--files", "16", "sh", "-c", "ulimit -n"}).out,
            "16\n");
}

TEST_F(Streams, DirectoryIsAsAsked) {
  EXPECT_EQ(cordon({"run", "--cwd", directory(), "--", "pwd", "-P"}).out,
            std::filesystem::canonical(directory()).string() + "\n");
}

TEST_F(Streams, EnvironmentIsWhatWasAskedForAndALittleMore) {
  const Ended ended = Command({"run", "--env", "SET=a=b", "--env", "EMPTY=", "--env", "NAMED",
                               "--env", "ABSENT", "--env-pass", "GROUP_*", "--", "env"})
                          .environment("NAMED", "by name")
                          .environment("GROUP_ONE", "1")
                          .environment("GROUP_TWO", "2")
                          .environment("SECRET_TOKEN", "hidden")
                          .environment("SET", "overridden")
                          .run();
  EXPECT_THAT(ended.out, HasSubstr("SET=a=b\n"));
  EXPECT_THAT(ended.out, HasSubstr("EMPTY=\n"));
  EXPECT_THAT(ended.out, HasSubstr("NAMED=by name\n"));
  EXPECT_THAT(ended.out, HasSubstr("GROUP_ONE=1\n"));
  EXPECT_THAT(ended.out, HasSubstr("GROUP_TWO=2\n"));
  EXPECT_THAT(ended.out, HasSubstr("PATH="));
  EXPECT_THAT(ended.out, Not(HasSubstr("SECRET_TOKEN")));
  EXPECT_THAT(ended.out, Not(HasSubstr("ABSENT")));
  EXPECT_THAT(ended.out, Not(HasSubstr("overridden")));
}

TEST_F(Streams, TheProgramStartsWithDefaultSignalsAndNoOtherDescriptors) {
  const Ended ended = Command({"run", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"})
                          .ignoring(SIGUSR1)
                          .run();
  EXPECT_EQ(ended.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
  EXPECT_EQ(cordon({"run", "--report", path("r"), "--", "ls", "/proc/self/fd"}).out,
            "0\n1\n2\n3\n");
}

}  // namespace
}  // namespace cordon::cli
