// What is wrong is said, with the documented status, and nothing is left behind.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class BadInput : public CliTest {
 protected:
  // Status 125, and one line that holds `what` and points to the help.
  static void expect_usage_error(const std::vector<std::string>& arguments,
                                 const std::string& what) {
    const Ended ended = cordon(arguments);
    EXPECT_EQ(ended.status, 125) << testing::PrintToString(arguments);
    EXPECT_THAT(ended.err, StartsWith("cordon: "));
    EXPECT_THAT(ended.err, HasSubstr(what));
    EXPECT_THAT(ended.err, HasSubstr("--help'\n"));
    EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    EXPECT_EQ(ended.out, "");
  }
};

TEST_F(BadInput, UnknownOption) {
  expect_usage_error({"run", "--bogus", "--", "true"}, "unknown option --bogus;");
  expect_usage_error({"run", "--bogus=1", "true"}, "unknown option --bogus;");
  expect_usage_error({"run", "-x", "true"}, "unknown option -x;");
  expect_usage_error({"run", "--timout", "1s", "true"}, "(did you mean --timeout?)");
  expect_usage_error({"--bogus"}, "unknown option '--bogus'");
}

TEST_F(BadInput, UnknownVerb) {
  expect_usage_error({}, "no verb given");
  expect_usage_error({""}, "unknown verb ''");
  expect_usage_error({"rnu"}, "unknown verb 'rnu' (did you mean 'run'?)");
  expect_usage_error({"frobnicate"}, "unknown verb 'frobnicate';");
}

TEST_F(BadInput, MissingProgramOrValue) {
  expect_usage_error({"run"}, "no program to run was given");
  expect_usage_error({"run", "--"}, "no program to run was given");
  expect_usage_error({"run", "--json"}, "no program to run was given");
  expect_usage_error({"run", "--timeout"}, "--timeout needs a value");
}

TEST_F(BadInput, BadSize) {
  for (const char* const size : {"", "M", "12Q", "1.2.3M", "64 M", "64MM", "0x10", "1e3", "nan"}) {
    expect_usage_error({"run", "--memory", size, "true"}, "--memory: \"" + std::string(size));
  }
}

TEST_F(BadInput, BadDuration) {
  for (const char* const duration : {"", "5", "s", "5 s", "5sec", "1e3s", "inf"}) {
    expect_usage_error({"run", "--timeout", duration, "true"},
                       "--timeout: \"" + std::string(duration));
  }
  expect_usage_error({"run", "--timeout", "0s", "true"}, "write \"none\"");
}

TEST_F(BadInput, NegativeOrAbsurdLimit) {
  for (const char* const option : {"--memory", "--file-size", "--output"}) {
    for (const char* const size : {"-1", "-64M", "99999999T", "99999999999999999999999"}) {
      expect_usage_error({"run", option, size, "true"}, option);
    }
  }
  for (const char* const option : {"--timeout", "--grace", "--cpu-time"}) {
    for (const char* const duration : {"-1s", "999999999h", "99999999999999999999999s"}) {
      expect_usage_error({"run", option, duration, "true"}, option);
    }
  }
  for (const char* const option : {"--pids", "--files"}) {
    for (const char* const count : {"-1", "1.5", "many", "", "99999999999999999999999"}) {
      expect_usage_error({"run", option, count, "true"}, option);
    }
  }
  for (const char* const cpus :
       {"", "-1", "half", ".5", "1.", "1.2.3", "1e3", "0.0001", "9999999"}) {
    expect_usage_error({"run", "--cpus", cpus, "true"}, "--cpus: \"" + std::string(cpus));
  }
  expect_usage_error({"run", "--cpus", "0", "true"}, "limit cpu_millicores is 0");
  expect_usage_error({"run", "--memory", "0", "true"}, "limit memory is 0");
  expect_usage_error({"run", "--pids", "0", "true"}, "limit processes is 0");
  expect_usage_error({"run", "--files", "2", "true"}, "limit files is 2");
  expect_usage_error({"run", "--cpu-time", "0s", "true"}, "limit cpu_time");
}

TEST_F(BadInput, BadNames) {
  expect_usage_error({"run", "--backend", "docker", "true"},
                     "there are auto, linux, gvisor and posix");
  expect_usage_error({"run", "--net", "lan", "true"}, "there are none, loopback and host");
  expect_usage_error({"run", "--user", "no-such-user", "true"}, "is no user here");
  expect_usage_error({"run", "--user", "", "true"}, "is no user here");
  expect_usage_error({"run", "--user", "0:no-such-group", "true"}, "is no group here");
  expect_usage_error({"run", "--user", "4294967295", "true"}, "too large for an id");
  expect_usage_error({"run", "--cgroup-parent", "", "true"}, "names no control group");
  for (const char* const option : {"--read", "--write", "--tmpfs"}) {
    expect_usage_error({"run", option, "", "true"}, "names no path");
  }
  for (const char* const bind : {"", "/a", "/a:/b:/c", "/a:/b:/c:ro"}) {
    expect_usage_error({"run", "--bind", bind, "true"}, "is not SRC:DST or SRC:DST:ro");
  }
  expect_usage_error({"run", "--bind", ":/b", "true"}, "names no path");
  expect_usage_error({"run", "--bind", "/a:", "true"}, "names no path");
  expect_usage_error({"run", "--tmpfs", "/a:big", "true"}, "--tmpfs: \"big\"");
  expect_usage_error({"run", "--tmpfs", "/a:0", "true"}, "leaves no room");
  expect_usage_error({"run", "--require", "magic", "true"}, "\"magic\" is no guarantee");
  expect_usage_error({"run", "--require", "memory,,cpu", "true"}, "\"\" is no guarantee");
  expect_usage_error({"run", "--env", "=value", "true"}, "has no variable name");
  expect_usage_error({"run", "--env", "A*", "true"}, "--env-pass takes patterns");
  expect_usage_error({"run", "--env", "", "true"}, "has no variable name");
  expect_usage_error({"run", "--cwd", "", "true"}, "names no directory");
  expect_usage_error({"run", "--report", "", "true"}, "names no file");
  expect_usage_error({"completion", "tcsh"}, "no completion for 'tcsh'");
  expect_usage_error({"completion"}, "bash, zsh or fish");
  expect_usage_error({"help", "nothing"}, "no help about 'nothing'");
}

TEST_F(BadInput, LimitThatNoProgramFitsInto) {
  // The kernel ends the program during exec or right after: never a success, never a hang.
  const Ended ended = cordon({"run", "--memory", "1", "--timeout", "10s", "--", "true"});
  EXPECT_NE(ended.status, 0);
  EXPECT_NE(ended.status, 5);
  EXPECT_GT(ended.status, 0) << "the command itself died of a signal";
}

TEST_F(BadInput, EmptyProgram) {
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"run", ""}, {"run", "--", ""}, {"run", "--", "", "argument"}}) {
    const Ended ended = cordon(arguments);
    EXPECT_EQ(ended.status, 125);
    EXPECT_EQ(ended.err, "cordon: program is empty: name the program to run\n");
  }
}

TEST_F(BadInput, MissingDirectory) {
  const Ended missing = cordon({"run", "--cwd", path("missing"), "--", "true"});
  EXPECT_EQ(missing.status, 125);
  EXPECT_THAT(missing.err, HasSubstr(path("missing")));
  const Ended no_directory = cordon({"run", "--cwd", file("plain", ""), "--", "true"});
  EXPECT_EQ(no_directory.status, 125);
  EXPECT_THAT(no_directory.err, HasSubstr(path("plain")));
}

// A program that is there, on each backend. In a sandbox it has to be granted.
class BadProgram : public BadInput, public testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] Ended run_granted(const std::string& program) const {
    std::vector<std::string> arguments = {"run", "--backend", GetParam()};
    if (GetParam() == std::string_view("linux")) {
      arguments.insert(arguments.end(), {"--read", directory()});
    }
    arguments.insert(arguments.end(), {"--", program});
    return cordon(arguments);
  }
};

TEST_P(BadProgram, IsADirectory) {
  const Ended ended = run_granted(directory());
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("it is a directory"));
}

TEST_P(BadProgram, IsNotExecutable) {
  const Ended ended = run_granted(file("plain", "#!/bin/sh\n"));
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("chmod +x"));
}

TEST_P(BadProgram, IsNoProgram) {
  const Ended ended = run_granted(file("text", "just text\n", true));
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("#! line"));
}

TEST_P(BadProgram, IsAScriptWithAMissingInterpreter) {
  const Ended ended = run_granted(file("script", "#!/no/such/interpreter\n", true));
  EXPECT_EQ(ended.status, 126);
  EXPECT_THAT(ended.err, HasSubstr("/no/such/interpreter"));
}

TEST_P(BadProgram, WithoutAPathIsLookedForInTheUsualPlaces) {
  const Ended ended = cordon({"run", "--backend", GetParam(), "--env-pass", "NOTHING", "true"});
  EXPECT_EQ(ended.status, 0) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(Backend, BadProgram, testing::Values("linux", "posix"),
                         [](const auto& one) { return std::string(one.param); });

TEST_F(BadInput, ProgramThatTheSandboxWasNotGivenIsNamed) {
  const std::string script = file("script", "#!/bin/sh\n", true);
  const Ended ended = cordon({"run", "--", script});
  EXPECT_EQ(ended.status, 126);
  EXPECT_EQ(ended.err, "cordon: " + script + " exists, but the sandbox was not given it: grant " +
                           "it, e.g. --read " + directory().string() + "\n");
  EXPECT_EQ(cordon({"plan", "--", script}).status, 126);
  EXPECT_EQ(cordon({"run", "--", directory()}).status, 126);
  // A file of that name is inside, too, but no program.
  EXPECT_THAT(cordon({"run", "--", "/etc/passwd"}).err, HasSubstr("chmod +x"));
}

TEST_F(BadInput, FailureToStartIsAnOutcomeToo) {
  const Ended ended = cordon({"run", "--json", "--", "no-such-program"});
  EXPECT_EQ(ended.status, 127);
  EXPECT_EQ(ended.err, "");
  const auto outcome = parse(ended.out).at("outcome");
  EXPECT_EQ(outcome.at("verdict"), "failed_to_start");
  EXPECT_EQ(outcome.at("error").at("code"), "not_found");
  EXPECT_TRUE(outcome.at("exit_code").is_null());

  const Ended empty = cordon({"run", "--json", "--", ""});
  EXPECT_EQ(empty.status, 125);
  EXPECT_EQ(parse(empty.out).at("outcome").at("error").at("code"), "invalid_argument");
}

// Puts a limit of the test, which the command inherits, where the test needs it.
bool raise_limit(__rlimit_resource resource, rlim_t value) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = value;
  limit.rlim_max = std::max(limit.rlim_max, value);
  return ::setrlimit(resource, &limit) == 0;
}

TEST_F(BadInput, TwoMebibytesOfArgumentsReachTheProgram) {
  if (!raise_limit(RLIMIT_STACK, 64U << 20U))
    CORDON_SKIP("rlimits", "this user may not raise RLIMIT_STACK");
  std::vector<std::string> arguments = {
      "run", "--", "sh", "-c", "echo $#; shift 2047; printf %s \"$1\" | wc -c", "sh"};
  arguments.insert(arguments.end(), 2048, std::string(1024, 'a'));
  const Ended ended = cordon(arguments);
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "2048\n1024\n");
}

TEST_F(BadInput, StandardStreamsClosedAtStart) {
  for (const auto& closed : std::vector<std::initializer_list<int>>{{0}, {1}, {2}, {0, 1, 2}}) {
    const std::string seen = path("seen");
    // The shell names what its three streams are; none may be missing or another file of ours.
    Command command({"run", "--write", directory(), "--report", path("report"), "--", "sh", "-c",
                     "for i in 0 1 2; do readlink /proc/$$/fd/$i || exit 9; done > " + seen +
                         "; cat; echo out; echo err >&2; exit 3"});
    const Ended ended = command.closed(closed).run();
    EXPECT_EQ(ended.status, 3);
    EXPECT_EQ(parse(read_file(path("report"))).at("verdict"), "exited");
    const bool out_open = std::ranges::find(closed, 1) == closed.end();
    const bool err_open = std::ranges::find(closed, 2) == closed.end();
    EXPECT_EQ(ended.out, out_open ? "out\n" : "");
    EXPECT_EQ(ended.err, err_open ? "err\n" : "");
  }
}

TEST_F(BadInput, AllStreamsClosedWithJson) {
  EXPECT_EQ(Command({"run", "--json", "--", "sh", "-c", "exit 3"}).closed({0, 1, 2}).run().status,
            3);
  EXPECT_EQ(Command({"run", "--", "no-such-program"}).closed({0, 1, 2}).run().status, 127);
}

TEST_F(BadInput, StdoutThatCannotBeWritten) {
  const Ended ended = Command({"run", "--json", "--", "true"}).redirect(1, "/dev/full").run();
  EXPECT_EQ(ended.status, 125);
  EXPECT_EQ(ended.err, "cordon: cannot write to stdout: No space left on device\n");
}

TEST_F(BadInput, HundredThousandOpenDescriptorsInTheCaller) {
  constexpr rlim_t kMany = 100'000;
  constexpr rlim_t kSpare = 100;
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t many =
      raise_limit(RLIMIT_NOFILE, kMany + kSpare) ? kMany : std::min(kMany, limit.rlim_max - kSpare);
  ASSERT_TRUE(raise_limit(RLIMIT_NOFILE, many + kSpare));

  std::vector<base::Fd> open;
  open.reserve(many);
  for (rlim_t i = 0; i < many; ++i) open.emplace_back(::dup(STDERR_FILENO));
  ASSERT_TRUE(open.back());
  // ls itself has one more for the directory.
  const Ended ended = cordon({"run", "--", "ls", "/proc/self/fd"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out, "0\n1\n2\n3\n");
  if (many < kMany) {
    CORDON_SKIP("rlimits", "this user may open " + std::to_string(many) +
                               " descriptors only; with those it worked");
  }
}

}  // namespace
}  // namespace cordon::cli
