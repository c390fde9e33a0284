// The parts of `cordon batch` that need no run: lines, requests, order, counts, what is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json/parse.hpp>

#include "batch_input.h"
#include "batch_options.h"
#include "batch_request.h"
#include "batch_results.h"
#include "batch_resume.h"
#include "batch_tally.h"

namespace cordon::app {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<InputLine> lines_of(const std::string& text, std::size_t longest = kLongestRequest) {
  BatchInput input = BatchInput::of_text(text, "in");
  LineReader reader(input, longest);
  std::vector<InputLine> lines;
  while (auto line = reader.next().value()) lines.push_back(*std::move(line));
  return lines;
}

Result<BatchRequest> request_of(const std::string& text, const RunOptions& defaults = {}) {
  return read_request({.number = 7, .text = text}, "in.jsonl", defaults);
}

std::string why_not(const std::string& text) {
  const auto request = request_of(text);
  return request ? "it is a request" : request.error().message;
}

TEST(BatchLines, BlankLinesAreCountedAndLeftOut) {
  const auto lines = lines_of("a\n\n \t\r\nb\r\n\nc");
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].text, "a");
  EXPECT_EQ(lines[1].text, "b");
  EXPECT_EQ(lines[1].number, 4U);
  EXPECT_EQ(lines[2].number, 6U);
  EXPECT_TRUE(lines[1].whole);
  EXPECT_FALSE(lines[2].whole);
}

TEST(BatchLines, AByteOrderMarkIsNoPartOfTheFirstLineOnly) {
  const auto lines = lines_of(
      "\xEF\xBB\xBF"
      "a\n\xEF\xBB\xBF"
      "b\n");
  EXPECT_EQ(lines[0].text, "a");
  EXPECT_EQ(lines[1].text,
            "\xEF\xBB\xBF"
            "b");
}

TEST(BatchLines, ALongLineIsCutAndTheNextIsWhole) {
  const auto lines = lines_of(std::string(200'000, 'x') + "\nshort\n" + std::string(100, 'y'), 100);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_TRUE(lines[0].too_long);
  EXPECT_EQ(lines[0].text.size(), 100U);
  EXPECT_EQ(lines[1].text, "short");
  EXPECT_FALSE(lines[2].too_long);
}

TEST(BatchLines, LinesAcrossBlocksAreWhole) {
  std::string text;
  std::vector<std::string> expected;
  for (std::size_t i = 1; i < 2000; i += 7) {
    expected.emplace_back(i, static_cast<char>('a' + i % 26));
    text += expected.back() + '\n';
  }
  std::vector<std::string> found;
  for (const auto& line : lines_of(text)) found.push_back(line.text);
  EXPECT_EQ(found, expected);
}

TEST(BatchLines, AFileThatChangesAfterItWasCheckedIsNotReadOn) {
  char name[] = "/tmp/cordon-batch-XXXXXX";
  base::Fd file(::mkstemp(name));
  const std::string block(kBlock, '\n');
  const auto write = [&](const std::string& text, std::size_t at) {
    ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), static_cast<off_t>(at)),
              static_cast<ssize_t>(text.size()));
  };
  write(block + "second\n", 0);
  auto input = BatchInput::open(name);
  ASSERT_TRUE(input);
  ASSERT_EQ(LineReader(*input, 100).next().value()->text, "second");
  LineReader before(*input, 100);
  EXPECT_FALSE(before.next().value()->too_long);
  EXPECT_FALSE(before.next().value());  // the end is known, too
  input->seal();
  EXPECT_EQ(LineReader(*input, 100).next().value()->text, "second");

  write("evil!!", kBlock);  // changed
  EXPECT_THAT(LineReader(*input, 100).next().error().message, HasSubstr("was changed"));
  write("second\n{}\n", kBlock);  // added to
  EXPECT_THAT(LineReader(*input, 100).next().error().message, HasSubstr("was changed"));
  write("second\n", kBlock);
  ASSERT_EQ(::ftruncate(file.get(), kBlock), 0);  // cut
  EXPECT_THAT(LineReader(*input, 100).next().error().message, HasSubstr("was changed"));
  ::unlink(name);
}

TEST(BatchRequests, KeysMeanWhatTheOptionsMean) {
  const auto found = request_of(
      R"({"id":"a","argv":["sh","-c","x"],"timeout":"2s","grace":"1s","cpu_time":"3s","cpus":0.5,)"
      R"("memory":"64M","pids":5,"files":"32","file_size":4096,"output":"1K","read":["/a","/b"],)"
      R"("write":"/c","bind":["/d:/e:ro"],"tmpfs":["/t:1M"],"net":"loopback","cwd":"/usr",)"
      R"("env":{"A":"1"},"env_pass":"X*","no_unix":true,"pids_kill":true,"stdin":"i\u0000n"})");
  ASSERT_TRUE(found) << found.error().message;
  const Request& request = found->options.request;
  EXPECT_EQ(found->id, "a");
  EXPECT_EQ(request.program, "sh");
  EXPECT_THAT(request.args, ElementsAre("-c", "x"));
  EXPECT_EQ(request.timeout, 2s);
  EXPECT_EQ(request.grace, 1s);
  EXPECT_EQ(request.limits.cpu_time, 3s);
  EXPECT_EQ(request.limits.cpu_millicores, 500U);
  EXPECT_EQ(request.limits.memory_bytes, 64U << 20U);
  EXPECT_EQ(request.limits.processes, 5U);
  EXPECT_EQ(request.limits.open_files, 32U);
  EXPECT_EQ(request.limits.file_size_bytes, 4096U);
  EXPECT_EQ(request.limits.output_bytes, 1024U);
  EXPECT_THAT(request.grants, ElementsAre(Grant::read("/a"), Grant::read("/b"), Grant::write("/c"),
                                          Grant::bind("/d", "/e", Grant::Kind::read),
                                          Grant::tmpfs("/t", 1U << 20U)));
  EXPECT_EQ(request.network, Network::loopback);
  EXPECT_EQ(request.cwd, "/usr");
  EXPECT_EQ(request.env.at(0).name + request.env.at(0).value, "A1");
  EXPECT_THAT(request.env_pass, testing::Contains("X*"));
  EXPECT_FALSE(request.unix_sockets);
  EXPECT_TRUE(request.end_at_process_limit);
  EXPECT_EQ(request.in.data, std::string("i\0n", 3));
}

TEST(BatchRequests, AKeyReplacesTheDefaultAndListsAreAdded) {
  RunOptions defaults;
  defaults.request.timeout = 9s;
  defaults.request.limits.memory_bytes = 1;
  defaults.request.grants = {Grant::read("/all")};
  defaults.request.end_at_process_limit = true;
  const auto found = request_of(
      R"({"program":"p","args":["x"],"timeout":"1s","read":"/one","pids_kill":false})", defaults);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->options.request.timeout, 1s);
  EXPECT_EQ(found->options.request.limits.memory_bytes, 1U);
  EXPECT_THAT(found->options.request.grants, ElementsAre(Grant::read("/all"), Grant::read("/one")));
  EXPECT_FALSE(found->options.request.end_at_process_limit);
  EXPECT_EQ(found->options.request.in.kind, Input::Kind::none);
  EXPECT_EQ(found->id, std::nullopt);
}

TEST(BatchRequests, WhatIsWrongIsToldWithItsPlace) {
  EXPECT_EQ(why_not(R"({"argv":["a"],"memroy":1})"),
            R"(in.jsonl:7:15: unknown key "memroy": did you mean "memory"?)");
  EXPECT_THAT(why_not(R"({"argv":["a"],"network":"host"})"), HasSubstr(R"(did you mean "net"?)"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"timeout":5})"), HasSubstr("7:15: timeout is a whole"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"timeout":"5"})"), HasSubstr("is not a duration"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"secret":"A=env:B"})"), HasSubstr("no key of a request"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"workdir":true})"), HasSubstr("no key of a request"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"policy":"p"})"), HasSubstr("give --policy before"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"explain":true})"), HasSubstr("give --explain before"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"argv":["b"]})"), HasSubstr("twice"));
  EXPECT_THAT(why_not(R"({"argv":["a"]} {})"), HasSubstr("something follows"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"program":"b"})"), HasSubstr("say it one way"));
  EXPECT_THAT(why_not(R"({"args":["a"]})"), HasSubstr("no program"));
  EXPECT_THAT(why_not(R"({"argv":[]})"), HasSubstr("argv is empty"));
  EXPECT_THAT(why_not(R"({"argv":[""]})"), HasSubstr("in.jsonl:7: program is empty"));
  EXPECT_THAT(why_not(R"({"argv":["a\u0000b"]})"), HasSubstr("NUL"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"read":["/x\u0000"]})"), HasSubstr("NUL"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"env":{"X":1}})"), HasSubstr("env.X is a whole number"));
  EXPECT_THAT(why_not(R"({"argv":["a"],"id":3})"), HasSubstr("id is a whole number"));
  EXPECT_THAT(why_not(R"(["a"])"), HasSubstr("a request is an object"));
  EXPECT_THAT(why_not("{\"argv\":[\"\xff\"]}"), StartsWith("in.jsonl:7:"));
  EXPECT_THAT(why_not("{"), StartsWith("in.jsonl:7:2: this is not JSON"));
}

TEST(BatchRequests, ALineThatIsTooLongIsNoRequest) {
  const auto request = read_request({.number = 2, .text = "{", .too_long = true}, "in", {});
  ASSERT_FALSE(request);
  EXPECT_THAT(request.error().message, StartsWith("in:2: a request has at most 1M"));
}

TEST(BatchRequests, TheDigestKnowsTheLineAndTheOptions) {
  const InputLine line{.number = 1, .text = R"({"argv":["a"]})"};
  const std::string digest = request_digest(line, "--memory=1M\n");
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(request_digest({.number = 9, .text = line.text}, "--memory=1M\n"), digest);
  EXPECT_NE(request_digest(line, "--memory=2M\n"), digest);
  EXPECT_NE(request_digest({.number = 1, .text = R"({"argv":["b"]})"}, "--memory=1M\n"), digest);
}

TEST(BatchResults, ComeOutInOrderHoweverTheyCome) {
  ResultOrder order(3, 100);
  order.put(1, "b");
  EXPECT_EQ(order.take(), "");
  order.put(0, "a");
  EXPECT_EQ(order.take(), "ab");
  order.put(3, "d");
  order.put(2, "c");
  EXPECT_EQ(order.take(), "cd");
}

TEST(BatchResults, ASlowRequestHoldsBackOnlySoMany) {
  ResultOrder order(3, 100);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_TRUE(order.has_room());
    order.put(i, "x");
  }
  EXPECT_FALSE(order.has_room());
  order.put(0, "x");
  EXPECT_EQ(order.take(), "xxxx");
  EXPECT_TRUE(order.has_room());
  order.put(5, std::string(100, 'x'));
  EXPECT_FALSE(order.has_room());
}

TEST(BatchResults, IdsAndMessagesAreEscaped) {
  const ResultHead head{.line = 3, .id = "a\"\n", .digest = "d"};
  const std::string line = result_line(
      head,
      Error{.code = ErrorCode::timed_out, .stage = "s", .os_error = 0, .message = "\"\xff\n"});
  ASSERT_TRUE(line.ends_with("}\n"));
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  const auto value = boost::json::parse(line);
  EXPECT_EQ(value.at("id"), "a\"\n");
  EXPECT_EQ(value.at("line"), 3);
  EXPECT_EQ(value.at("error").at("code"), "timed_out");
  EXPECT_TRUE(value.at("error").at("os_error").is_null());
}

class BatchResume : public testing::Test {
 protected:
  // A result of each line, as a batch writes them.
  static std::string results_of(const std::string& input) {
    std::string text;
    for (const auto& line : lines_of(input)) {
      Outcome outcome;
      outcome.verdict = Verdict::exited;
      outcome.exit_code = 0;
      text += result_line({.line = line.number, .id = {}, .digest = request_digest(line, "o")},
                          outcome);
    }
    return text;
  }
  Result<Resumed> scan(const std::string& input, const std::string& results,
                       std::string_view options = "o") {
    BatchInput requests = BatchInput::of_text(input, "in");
    BatchInput written = BatchInput::of_text(results, "out");
    LineReader reader(requests, kLongestRequest);
    auto resumed = scan_results(written, reader, options, tally_);
    if (const auto line = reader.next().value()) next_ = line->text;
    return resumed;
  }
  Tally tally_;
  std::string next_;  // to be run
};

TEST_F(BatchResume, GoesOnAfterTheLastWholeResult) {
  const std::string whole = results_of("a\n\nb\n");
  const std::string torn = whole + R"({"line":4,"id":nu)";
  const auto resumed = scan("a\n\nb\nc\nd\n", torn);
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(resumed->done, 2U);
  EXPECT_EQ(resumed->bytes, whole.size());
  EXPECT_TRUE(resumed->torn);
  EXPECT_EQ(next_, "c");
  EXPECT_EQ(tally_.text(), "2 exited with 0");
}

TEST_F(BatchResume, EveryCutOfTheResultsGoesOnWhereItShould) {
  const std::string input = "a\nb\nc\n";
  const std::string results = results_of(input);
  for (std::size_t cut = 0; cut <= results.size(); ++cut) {
    next_.clear();
    const auto resumed = scan(input, results.substr(0, cut));
    ASSERT_TRUE(resumed) << resumed.error().message;
    EXPECT_EQ(resumed->done,
              static_cast<std::size_t>(std::ranges::count(results.substr(0, cut), '\n')));
    EXPECT_EQ(next_, resumed->done == 3 ? "" : std::string(1, "abc"[resumed->done]));
    EXPECT_EQ(resumed->torn, resumed->bytes != cut);
  }
}

TEST_F(BatchResume, ResultsOfOtherRequestsAreRefused) {
  EXPECT_THAT(scan("a\nX\n", results_of("a\nb\n")).error().message,
              HasSubstr("out:2: this is not the result of line 2"));
  EXPECT_THAT(scan("\na\n", results_of("a\n")).error().message, HasSubstr("out:1"));
  EXPECT_THAT(scan("a\n", results_of("a\n"), "other").error().message, HasSubstr("other options"));
  EXPECT_THAT(scan("a\n", results_of("a\nb\n")).error().message, HasSubstr("more results"));
  EXPECT_THAT(scan("a\n", "no result\n").error().message, HasSubstr("out:1: this is no result"));
  EXPECT_THAT(scan("a\n", "[]\n").error().message, HasSubstr("out:1"));
}

TEST(BatchTally, CountsByVerdictWithTheGoodFirst) {
  Tally tally;
  EXPECT_TRUE(tally.all_well());
  tally.add("timeout", {});
  tally.add("exited", 0);
  tally.add("exited", 0);
  tally.add("exited", 3);
  tally.add_error();
  EXPECT_EQ(tally.text(), "2 exited with 0, 1 exited otherwise, 1 not run, 1 timeout");
  EXPECT_EQ(tally.total(), 5U);
  EXPECT_FALSE(tally.all_well());
}

TEST(BatchTally, ProgressTellsRateAndTimeLeftOfWhatIsDoneNow) {
  Tally tally;
  tally.add("exited", 0);
  const Progress progress{.done = 60, .total = 100, .done_before = 20, .elapsed = 2s};
  EXPECT_EQ(progress_line(progress, tally, 200),
            "[############........] 60/100  20/s  2s left  1 exited with 0");
  EXPECT_EQ(progress_line(progress, tally, 30).size(), 30U);
  EXPECT_EQ(summary_line(progress, tally),
            "40 requests in 2.0s (20/s), 20 before: 1 exited with 0");
  EXPECT_EQ(progress_line({.done = 0, .total = 0}, Tally(), 80), "[####################] 0/0");
  EXPECT_THAT(progress_line({.done = 1, .total = 8000, .elapsed = 1s}, tally, 80),
              HasSubstr("2h13m left"));
}

TEST(BatchOptionsOf, TheCommandLineAreDefaultsOfEveryRequest) {
  const auto options = parse_batch_options(
      {"--jobs", "3", "--memory", "64M", "--results", "r", "--resume", "--deadline", "5s", "in"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->jobs, 3U);
  EXPECT_EQ(options->defaults.request.limits.memory_bytes, 64U << 20U);
  EXPECT_EQ(options->input, "in");
  EXPECT_EQ(options->deadline, 5s);
  EXPECT_EQ(options->asked, "--memory=64M\n");  // not how many run at once
}

TEST(BatchOptionsOf, WhatDoesNotFitIsRefusedAndNotIgnored) {
  const auto why = [](std::vector<std::string> arguments) {
    const auto options = parse_batch_options(std::move(arguments));
    return options ? "accepted" : options.error().message;
  };
  for (const std::string option : {"--secret", "--manifest", "--cache", "--collect", "--into",
                                   "--log", "--transport", "--report", "--collect-limit"}) {
    EXPECT_THAT(why({option, "x", "in"}), StartsWith(option + ": is no option of a batch"))
        << option;
  }
  for (const std::string option : {"--workdir", "--keep", "--json", "--redact", "--no-redact"}) {
    EXPECT_THAT(why({option, "in"}), StartsWith(option + ": is no option of a batch")) << option;
  }
  EXPECT_THAT(why({"--job", "3", "in"}), HasSubstr("did you mean --jobs?"));
  EXPECT_THAT(why({"--resume", "in"}), HasSubstr("needs --results"));
  EXPECT_THAT(why({"--quiet", "--progress", "in"}), HasSubstr("choose one"));
  EXPECT_THAT(why({"--jobs", "0", "in"}), HasSubstr("from 1 to 1024"));
  EXPECT_THAT(why({"--capture", "65M", "in"}), HasSubstr("64M"));
  EXPECT_THAT(why({"--audit-key", "k", "in"}), HasSubstr("needs --audit"));
  EXPECT_THAT(why({"--memory", "0", "in"}), HasSubstr("memory"));
  EXPECT_THAT(why({}), HasSubstr("no file of requests"));
  EXPECT_THAT(why({"a", "b"}), HasSubstr("one file of requests"));
}

}  // namespace
}  // namespace cordon::app
