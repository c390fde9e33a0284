// cordon run --json: one object, whatever the program wrote.
#include <boost/json/object.hpp>

#include "fixture.h"

namespace cordon::cli {
namespace {

class Json : public CliTest {};

TEST_F(Json, TellsOutputAndOutcomeOfAProgramThatCrashed) {
  const Ended ended =
      cordon({"run", "--json", "--", "sh", "-c", "echo o; echo e >&2; kill -SEGV $$"});
  EXPECT_EQ(ended.status, 139);
  EXPECT_EQ(ended.err, "");
  ASSERT_TRUE(ended.out.ends_with("}\n"));
  EXPECT_EQ(std::ranges::count(ended.out, '\n'), 1);

  const auto object = parse(ended.out).as_object();
  std::vector<std::string> names;
  for (const auto& member : object) names.emplace_back(member.key());
  EXPECT_THAT(names, testing::ElementsAre("schema", "stdout", "stderr", "outcome"));
  EXPECT_EQ(object.at("schema"), "cordon.run/1");
  EXPECT_EQ(object.at("stdout"), "o\n");
  EXPECT_EQ(object.at("stderr"), "e\n");
  const auto& outcome = object.at("outcome").as_object();
  EXPECT_EQ(outcome.at("verdict"), "signaled");
  EXPECT_EQ(outcome.at("termination").at("type"), "signal");
  EXPECT_EQ(outcome.at("termination").at("signal"), 11);
  EXPECT_TRUE(outcome.at("exit_code").is_null());
  EXPECT_EQ(outcome.at("output_bytes"), 4);
  EXPECT_EQ(outcome.at("output_truncated"), false);
}

TEST_F(Json, TellsTheLimitThatEndedTheRun) {
  const Ended ended = cordon({"run", "--json", "--timeout", "50ms", "--", "sleep", "30"});
  EXPECT_EQ(ended.status, 5);
  EXPECT_EQ(ended.err, "");
  const auto outcome = parse(ended.out).at("outcome");
  EXPECT_EQ(outcome.at("verdict"), "timeout");
  EXPECT_EQ(outcome.at("timed_out"), true);
  EXPECT_EQ(outcome.at("termination").at("code"), 5);
  EXPECT_EQ(outcome.at("limit").at("name"), "timeout");
  EXPECT_EQ(outcome.at("limit").at("limit"), 50);
  EXPECT_GE(outcome.at("limit").at("observed").to_number<int>(), 50);
}

TEST_F(Json, OutputThatIsNotUtf8ComesInBase64) {
  const Ended ended = cordon({"run", "--json", "--", "sh", "-c", "printf '\\377\\000a'"});
  const auto object = parse(ended.out).as_object();
  EXPECT_FALSE(object.contains("stdout"));
  EXPECT_EQ(object.at("stdout_base64"), "/wBh");
  EXPECT_EQ(object.at("stderr"), "");
}

TEST_F(Json, PaddingOfBase64IsRight) {
  const auto encoded = [](const std::string& bytes) {
    const Ended ended = cordon({"run", "--json", "--", "printf", bytes});
    return std::string(parse(ended.out).at("stdout_base64").as_string());
  };
  EXPECT_EQ(encoded("\\377"), "/w==");
  EXPECT_EQ(encoded("\\377\\376"), "//4=");
  EXPECT_EQ(encoded("\\377\\376\\375"), "//79");
  EXPECT_EQ(encoded("\\377\\376\\375\\374"), "//79/A==");
}

TEST_F(Json, ControlCharactersAreEscaped) {
  const Ended ended = cordon({"run", "--json", "--", "printf", "a\\000\\001\"\\\\\\n"});
  EXPECT_EQ(parse(ended.out).at("stdout").as_string(), std::string_view("a\0\1\"\\\n", 6));
}

TEST_F(Json, KeepsOneMebibyteAStreamAndLetsTheProgramGoOn) {
  const Ended ended = cordon({"run", "--json", "--", "sh", "-c",
                              "head -c 3000000 /dev/zero | tr '\\0' a; echo end >&2; exit 4"});
  EXPECT_EQ(ended.status, 4);
  const auto object = parse(ended.out).as_object();
  EXPECT_EQ(object.at("stdout").as_string(), std::string(1024UL * 1024, 'a'));
  EXPECT_EQ(object.at("stderr"), "end\n");
  EXPECT_EQ(object.at("outcome").at("output_truncated"), true);
  EXPECT_EQ(object.at("outcome").at("output_bytes"), 3000004);
  EXPECT_EQ(object.at("outcome").at("verdict"), "exited");
}

TEST_F(Json, TextCutInsideACharacterIsStillText) {
  // One byte, then characters of two: the cut at 1 MiB goes through the middle of one.
  const std::string script = "printf a; yes $(printf '\\303\\251') | tr -d '\\n' | head -c 2000000";
  const Ended ended = cordon({"run", "--json", "--", "sh", "-c", script});
  const auto object = parse(ended.out).as_object();
  ASSERT_TRUE(object.contains("stdout"));
  EXPECT_EQ(object.at("stdout").as_string().size(), 1024UL * 1024 - 1);
  EXPECT_EQ(object.at("outcome").at("output_truncated"), true);
}

TEST_F(Json, OnlyAnOutputLimitEndsTheRun) {
  const Ended ended = cordon({"run", "--json", "--output", "100", "--", "yes"});
  EXPECT_EQ(ended.status, 124);
  const auto outcome = parse(ended.out).at("outcome");
  EXPECT_EQ(outcome.at("verdict"), "output");
  EXPECT_EQ(outcome.at("limit").at("limit"), 100);
}

TEST_F(Json, PassesStdinThrough) {
  const Ended ended = Command({"run", "--json", "--", "cat"}).input("from here").run();
  EXPECT_EQ(parse(ended.out).at("stdout"), "from here");
}

}  // namespace
}  // namespace cordon::cli
