// cordon run --secret: every source, every delivery, every mistake.
#include <sys/stat.h>

#include <boost/json/value.hpp>
#include <fstream>

#include "fixture.h"

namespace cordon::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Secrets : public CliTest {
 protected:
  // A file with the value, as a user keeps it.
  [[nodiscard]] std::string kept(const std::string& value, const std::string& name = "value") {
    return "file:" + file(name, value);
  }
};

Ended run(std::vector<std::string> options, const std::string& script) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--", "sh", "-c", script});
  return cordon(std::move(options));
}

constexpr const char* kShowFd = "cat <&\"$TOKEN_FD\"";
constexpr const char* kShowFile = "cat \"$TOKEN_FILE\"";

TEST_F(Secrets, AreDeliveredAsVariables) {
  const Ended ended = run({"--secret", "TOKEN=" + kept("hunter2\n")}, "printf '<%s>' \"$TOKEN\"");
  EXPECT_EQ(ended.out, "<hunter2>") << ended.err;
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
}

TEST_F(Secrets, AreDeliveredByDescriptor) {
  const Ended ended = run({"--secret", "TOKEN=" + kept("hunter2") + ",as=fd"},
                          std::string(kShowFd) + "; printf '[%s]' \"$TOKEN\"");
  EXPECT_EQ(ended.out, "hunter2[]") << ended.err;
  EXPECT_EQ(ended.status, 0);
}

TEST_F(Secrets, AreDeliveredAsFiles) {
  const Ended ended = run({"--secret", "TOKEN=" + kept("hunter2") + ",as=file"},
                          std::string("echo \"$TOKEN_FILE\"; stat -c '%a %u' \"$TOKEN_FILE\"; "
                                      "id -u; ") +
                              kShowFile);
  EXPECT_THAT(ended.out,
              testing::MatchesRegex("/run/secrets/TOKEN\n400 ([0-9]+)\n([0-9]+)\nhunter2"))
      << ended.err;
  EXPECT_EQ(ended.status, 0);
}

TEST_F(Secrets, FilesCannotBeChanged) {
  const Ended ended = run({"--secret", "TOKEN=" + kept("hunter2") + ",as=file"},
                          "chmod 600 $TOKEN_FILE || echo x > $TOKEN_FILE || rm -f $TOKEN_FILE || "
                          "touch /run/secrets/new || mount -o remount,rw /run/secrets || " +
                              std::string(kShowFile));
  EXPECT_EQ(ended.out, "hunter2");
}

TEST_F(Secrets, DescriptorsCannotBeChanged) {
  const Ended ended =
      run({"--secret", "TOKEN=" + kept("hunter2") + ",as=fd"},
          "echo x >&$TOKEN_FD || echo x > /proc/self/fd/$TOKEN_FD || " + std::string(kShowFd));
  EXPECT_EQ(ended.out, "hunter2");
}

TEST_F(Secrets, ComeInAllWaysAtOnce) {
  std::vector<std::string> options;
  std::string script;
  std::string expected;
  for (const std::string number : {"1", "2", "3"}) {
    const std::string source = kept("value" + number, "value" + number);
    options.insert(options.end(), {"--secret", "E" + number + "=" + source});
    options.insert(options.end(), {"--secret", "D" + number + "=" + source + ",as=fd"});
    options.insert(options.end(), {"--secret", "F" + number + "=" + source + ",as=file"});
    script += "printf '%s ' \"$E" + number + "\"; cat <&$D" + number + "_FD; echo; cat $F" +
              number + "_FILE; echo;";
    expected += "value" + number + " value" + number + "\nvalue" + number + "\n";
  }
  EXPECT_EQ(run(options, script).out, expected);
}

TEST_F(Secrets, LeaveNoOtherDescriptorBehind) {
  const Ended ended = run({"--secret", "TOKEN=" + kept("hunter2"), "--secret",
                           "KEY=" + kept("hunter3", "key") + ",as=file"},
                          "ls /proc/self/fd | tr '\\n' ' '");
  EXPECT_EQ(ended.out, "0 1 2 3 ") << "3 is that of ls";
}

TEST_F(Secrets, WorkOnThePosixBackendExceptAsFiles) {
  const std::string source = "TOKEN=" + kept("hunter2");
  EXPECT_EQ(run({"--backend", "posix", "--secret", source}, "printf %s \"$TOKEN\"").out, "hunter2");
  EXPECT_EQ(run({"--backend", "posix", "--secret", source + ",as=fd", "--secret",
                 "KEY=" + kept("hunter3", "key") + ",as=fd"},
                std::string(kShowFd) + "; cat <&$KEY_FD; ls /proc/self/fd | tr '\\n' ' '")
                .out,
            "hunter2hunter30 1 2 3 4 5 ");
  const Ended refused = run({"--backend", "posix", "--secret", source + ",as=file"}, "echo ran");
  EXPECT_EQ(refused.status, 125);
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(refused.err, HasSubstr("cannot give secret TOKEN as a file"));
}

TEST_F(Secrets, ComeFromVariablesThatTheProgramDoesNotSee) {
  const Ended ended = Command({"run", "--secret", "TOKEN=env:MY_TOKEN,as=fd", "--env-pass", "*",
                               "--", "sh", "-c", std::string(kShowFd) + "; env"})
                          .environment("MY_TOKEN", "hunter2")
                          .run();
  EXPECT_THAT(ended.out, testing::StartsWith("hunter2"));
  EXPECT_THAT(ended.out, Not(HasSubstr("MY_TOKEN"))) << ended.err;
}

TEST_F(Secrets, ComeFromDescriptors) {
  std::ofstream(path("open")) << "hunter2\n";
  EXPECT_EQ(Command({"run", "--secret", "TOKEN=fd:9", "--", "sh", "-c", "printf %s $TOKEN"})
                .redirect(9, path("open"))
                .run()
                .out,
            "hunter2");
  EXPECT_EQ(Command({"run", "--secret", "TOKEN=fd:0", "--", "sh", "-c", "printf %s $TOKEN"})
                .input("hunter2")
                .run()
                .out,
            "hunter2");
}

TEST_F(Secrets, ComeFromCommands) {
  EXPECT_EQ(run({"--secret", "TOKEN=command:echo hunter2"}, "printf %s $TOKEN").out, "hunter2");
  EXPECT_EQ(
      run({"--secret", R"(TOKEN=command:["printf","%s %s","a","b, c"],as=file)"}, kShowFile).out,
      "a b, c");
}

TEST_F(Secrets, MayHaveNewlinesAndNuls) {
  const std::string lines = "line 1\nline 2\n";
  EXPECT_EQ(run({"--secret", "TOKEN=" + kept(lines + "\n")}, "printf '<%s>' \"$TOKEN\"").out,
            "<" + lines + ">");
  std::ofstream(path("nul"), std::ios::binary) << std::string("a\0b", 3);
  ::chmod(path("nul").c_str(), 0600);
  const std::string source = "TOKEN=file:" + path("nul");
  EXPECT_EQ(run({"--secret", source + ",as=fd"}, kShowFd).out, std::string("a\0b", 3));
  EXPECT_EQ(run({"--secret", source + ",as=file"}, kShowFile).out, std::string("a\0b", 3));
  const Ended refused = run({"--secret", source}, "echo ran");
  EXPECT_EQ(refused.status, 125);
  EXPECT_THAT(refused.err, HasSubstr("NUL"));
}

TEST_F(Secrets, OfTheLargestSizeArriveWhole) {
  const std::string source = "TOKEN=" + kept(std::string(65536, 'x'));
  EXPECT_EQ(run({"--secret", source}, "printf %s \"${#TOKEN}\"").out, "65536");
  EXPECT_EQ(run({"--secret", source + ",as=fd"}, "wc -c <&$TOKEN_FD").out, "65536\n");
  EXPECT_EQ(run({"--secret", source + ",as=file"}, "wc -c <$TOKEN_FILE").out, "65536\n");
}

TEST_F(Secrets, MistakesAreErrorsThatNeverShowTheValue) {
  const std::string good = kept("hunter2");
  const std::string open = file("open", "hunter2");
  ::chmod(open.c_str(), 0644);
  std::filesystem::create_symlink(path("value"), path("link"));
  const struct {
    std::vector<std::string> options;
    const char* part;
  } mistakes[] = {
      {{"--secret", "TOKEN=hunter2"}, "\"TOKEN\" names no source"},
      {{"--secret", "TOKEN="}, "names no source"},
      {{"--secret", "hunter-2=file:x"}, "is not the name of a secret"},
      {{"--secret", "1A=file:x"}, "is not the name of a secret"},
      {{"--secret", "A/../B=file:x"}, "is not the name of a secret"},
      {{"--secret", "A\nB=file:x"}, "\"A\\nB\" is not the name of a secret"},
      {{"--secret", ""}, "is not the name of a secret"},
      {{"--secret", "TOKEN=" + good + ",as=argv"}, "as=env, as=fd and as=file"},
      {{"--secret", "TOKEN"}, "no policy names a source for secret TOKEN"},
      {{"--secret", "TOKEN,as=fd"}, "no policy names a source for secret TOKEN"},
      {{"--secret", "TOKEN=file:" + path("none")}, "secret TOKEN: file:"},
      {{"--secret", "TOKEN=file:" + open}, "chmod 600"},
      {{"--secret", "TOKEN=file:" + path("link")}, "is a symbolic link"},
      {{"--secret", "TOKEN=file:" + directory().string()}, "is not a regular file"},
      {{"--secret", "TOKEN=" + kept("", "empty")}, "is empty"},
      {{"--secret", "TOKEN=" + kept(std::string(65537, 'x'), "big")}, "more than 65536 bytes"},
      {{"--secret", "TOKEN=env:CORDON_NO_SUCH_VARIABLE"}, "env:CORDON_NO_SUCH_VARIABLE"},
      {{"--secret", "TOKEN=fd:77"}, "fd:77 cannot be read"},
      {{"--secret", "TOKEN=fd:x"}, "number of a descriptor"},
      {{"--secret", R"(TOKEN=command:["sh","-c","echo hunter2; exit 1"])"}, "exited with 1"},
      {{"--secret", "TOKEN=command:/no/such/hunter"}, "not found"},
      {{"--secret", "TOKEN=" + good, "--secret", "TOKEN=" + good}, "twice"},
      {{"--secret", "TOKEN=" + good, "--env", "TOKEN=1"}, "set otherwise"},
      {{"--secret", "TOKEN=" + good + ",as=file", "--read", "/run/secrets"}, ""},
  };
  for (const auto& [options, part] : mistakes) {
    const Ended ended = run(options, "echo ran");
    EXPECT_EQ(ended.status, 125) << options[1];
    EXPECT_EQ(ended.out, "") << options[1];
    EXPECT_THAT(ended.err, AllOf(HasSubstr(part), Not(HasSubstr("hunter2")))) << options[1];
  }
}

TEST_F(Secrets, AreErrorsInJsonToo) {
  const Ended ended = run({"--json", "--secret", "TOKEN=file:" + path("none")}, "echo ran");
  EXPECT_EQ(ended.status, 125);
  const auto outcome = parse(ended.out).at("outcome");
  EXPECT_EQ(outcome.at("verdict"), "failed_to_start");
  EXPECT_EQ(outcome.at("error").at("stage"), "secret");
}

TEST_F(Secrets, PathsMayHaveCommas) {
  EXPECT_EQ(run({"--secret", "TOKEN=" + kept("hunter2", "a,b=c")}, "printf %s $TOKEN").out,
            "hunter2");
  EXPECT_EQ(
      run({"--secret", "TOKEN=" + kept("hunter3", "a,as=fd") + ",as=env"}, "printf %s $TOKEN").out,
      "hunter3");
}

TEST_F(Secrets, AreRedactedInCapturedOutput) {
  const std::string script = "echo \"a $TOKEN b\"; echo \"$TOKEN\" >&2; printf hun";
  const std::string source = "TOKEN=" + kept("hunter2");
  const auto redacted = parse(run({"--json", "--secret", source}, script).out);
  EXPECT_EQ(redacted.at("stdout"), "a [redacted TOKEN] b\nhun");
  EXPECT_EQ(redacted.at("stderr"), "[redacted TOKEN]\n");
  const auto shown = parse(run({"--json", "--no-redact", "--secret", source}, script).out);
  EXPECT_EQ(shown.at("stdout"), "a hunter2 b\nhun");
}

TEST_F(Secrets, AreRedactedInStreamsIfAskedFor) {
  const std::string script = "echo \"a $TOKEN b\"; echo \"$TOKEN\" >&2; printf hun";
  const std::string source = "TOKEN=" + kept("hunter2");
  const Ended redacted = run({"--redact", "--secret", source}, script);
  EXPECT_EQ(redacted.out, "a [redacted TOKEN] b\nhun");
  EXPECT_EQ(redacted.err, "[redacted TOKEN]\n");
  EXPECT_EQ(run({"--secret", source}, script).out, "a hunter2 b\nhun") << "the program's own";
  EXPECT_EQ(run({"--redact", "--no-redact", "--secret", source}, script).err, "hunter2\n");
}

TEST_F(Secrets, TooShortForRedactionAreNamed) {
  const Ended ended = run({"--redact", "--secret", "PIN=" + kept("123")}, "echo $PIN");
  EXPECT_EQ(ended.out, "123\n");
  EXPECT_EQ(ended.err, "cordon: secret PIN has less than 4 bytes and is not redacted\n");
}

TEST_F(Secrets, APlanNamesThemAndReadsNothing) {
  const Ended ended = cordon({"plan", "--secret", "TOKEN=file:" + path("none") + ",as=file",
                              "--secret", "KEY=command:touch " + path("ran"), "--", "true"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("TOKEN by file"), HasSubstr("KEY by env"),
                               HasSubstr("/run/secrets, secrets in memory, read-only")));
  EXPECT_FALSE(std::filesystem::exists(path("ran")));
}

}  // namespace
}  // namespace cordon::cli
