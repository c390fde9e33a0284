#include "audit/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "audit/test_log.h"

namespace cordon::audit {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kFirst = "audit-00000001.jsonl";

class LogWriting : public LogTest {
 protected:
  [[nodiscard]] std::string refusal() {
    auto log = Log::open(settings(), real_clock());
    if (!log) return log.error().message;
    auto written = append(**log, "more");
    return written ? "" : written.error().message;
  }
};

TEST_F(LogWriting, ARecordHasEverythingInIt) {
  const auto log = open_log();
  const Entry entry{.operation = Operation::exit,
                    .run = "0123",
                    .policy_digest = "p0",
                    .request_digest = "r0",
                    .program = "/bin/true",
                    .detail = "why",
                    .outcome = R"({"verdict":"exited"})"};
  ASSERT_EQ(log->append({&entry, 1}).value(), 1U);
  const auto record = boost::json::parse(read(path(kFirst)));
  EXPECT_EQ(record.at("sequence"), 1);
  EXPECT_EQ(record.at("operation"), "exit");
  EXPECT_EQ(record.at("run"), "0123");
  EXPECT_EQ(record.at("uid"), ::getuid());
  EXPECT_EQ(record.at("pid"), ::getpid());
  EXPECT_EQ(record.at("policy"), "p0");
  EXPECT_EQ(record.at("request"), "r0");
  EXPECT_EQ(record.at("program"), "/bin/true");
  EXPECT_EQ(record.at("detail"), "why");
  EXPECT_EQ(record.at("outcome").at("verdict"), "exited");
  EXPECT_EQ(record.at("prev").as_string(), no_seal());
}

TEST_F(LogWriting, HostileNamesStayOnOneLineOfValidText) {
  const auto log = open_log();
  const Entry entry{.operation = Operation::start,
                    .program =
                        "a\nb\x1b[2J\xff\x7f\xc2\x9b"
                        "c\",\"prev\":\"x"};
  ASSERT_TRUE(log->append({&entry, 1}));
  const std::string text = read(path(kFirst));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  for (const char c : text.substr(0, text.size() - 1)) {
    EXPECT_FALSE(static_cast<unsigned char>(c) < 0x20 || c == 0x7f);
  }
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
  EXPECT_EQ(boost::json::parse(text).at("program"),
            "a\nb\x1b[2J\xef\xbf\xbd\x7f\xc2\x9b"
            "c\",\"prev\":\"x");
  EXPECT_EQ(wrong(), "");
}

TEST_F(LogWriting, LongTextsAreShortened) {
  const auto log = open_log();
  const Entry entry{.operation = Operation::start,
                    .program = std::string(1 << 20, 'x'),
                    .outcome = '"' + std::string(1 << 20, 'y') + '"'};
  ASSERT_TRUE(log->append({&entry, 1}));
  EXPECT_LT(fs::file_size(path(kFirst)), kLongestLine);
  EXPECT_EQ(wrong(), "");
}

TEST_F(LogWriting, FilesAreTheirOwnersAlone) {
  make_log(1);
  for (const auto& entry : fs::directory_iterator(settings().directory)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write);
  }
  EXPECT_EQ(fs::status(settings().directory).permissions(), fs::perms::owner_all);
}

TEST_F(LogWriting, GoesOnWhereItWasLeft) {
  make_log(2);
  make_log(3);
  EXPECT_EQ(verified().records, 5U);
  EXPECT_EQ(wrong(), "");
}

TEST_F(LogWriting, RotatesAndKeepsTheChain) {
  settings().max_file_size = 4096;
  make_log(60);
  const Verification all = verified();
  EXPECT_EQ(wrong(), "");
  EXPECT_GT(all.files, 3U);
  EXPECT_EQ(all.records, 60 + all.files - 1);  // each but the last ends with a note
  const auto first = lines(path(kFirst));
  EXPECT_THAT(first.back(), HasSubstr(R"("operation":"rotated")"));
}

TEST_F(LogWriting, AUsedKeyIsNeededFromThenOn) {
  settings().key_file = key_file();
  make_log(1);
  settings().key_file.clear();
  EXPECT_THAT(refusal(), HasSubstr("sealed with a key, and none was given"));
}

TEST_F(LogWriting, AKeyThatOthersMayReadIsRefused) {
  settings().key_file = key_file();
  ::chmod(settings().key_file.c_str(), 0640);
  EXPECT_THAT(refusal(), HasSubstr("others may read or change it"));
  ::chmod(settings().key_file.c_str(), 0600);
  write(settings().key_file, "short");
  EXPECT_THAT(refusal(), HasSubstr("a key has 32 to 4096 bytes"));
}

TEST_F(LogWriting, ATornLastLineIsRepairedWithANoteAndKept) {
  make_log(2);
  const std::string torn = R"({"sequence":3,"operation":"sta)";
  add(path(kFirst), torn);
  make_log(1);
  EXPECT_EQ(wrong(), "");
  const auto all = lines(path(kFirst));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[2], HasSubstr(R"("operation":"repaired")"));
  EXPECT_THAT(all[2], HasSubstr(std::to_string(torn.size()) + " bytes"));
  int kept = 0;
  for (const auto& entry : fs::directory_iterator(settings().directory)) {
    if (!entry.path().filename().string().starts_with("torn-")) continue;
    EXPECT_EQ(read(entry.path()), torn);
    ++kept;
  }
  EXPECT_EQ(kept, 1);
}

TEST_F(LogWriting, GarbageBehindTheHeadIsRepairedToo) {
  make_log(2);
  add(path(kFirst), std::string(100, '\0') + "\nnot a record\n{}");
  make_log(1);
  EXPECT_EQ(wrong(), "");
  EXPECT_EQ(verified().records, 4U);
}

TEST_F(LogWriting, RecordsThatTheHeadDoesNotKnowYetAreTakenIn) {
  make_log(2);
  const std::string head = read(path("head"));
  make_log(2);
  write(path("head"), head);  // as if the writer had died before it got to the head
  EXPECT_EQ(wrong(), "");
  make_log(1);
  EXPECT_EQ(wrong(), "");
  EXPECT_EQ(verified().records, 5U);  // none lost, and nothing to repair
}

TEST_F(LogWriting, AWriterThatDiedInARotationIsNoProblem) {
  settings().max_file_size = 4096;
  make_log(1);
  std::string before;
  while (!fs::exists(path(file_name(2)))) {
    before = read(path("head"));
    make_log(1);
  }
  // Before the head was told of the note that ends the first file.
  fs::remove(path(file_name(2)));
  write(path("head"), before);
  settings().max_file_size = 1 << 20;  // the next writer would not have rotated
  make_log(1);
  EXPECT_EQ(wrong(), "");
  EXPECT_TRUE(fs::exists(path(file_name(2))));
}

TEST_F(LogWriting, NothingIsAddedToALogWithoutItsEnd) {
  make_log(3);
  auto all = lines(path(kFirst));
  all.pop_back();
  write_lines(path(kFirst), all);
  EXPECT_THAT(refusal(), HasSubstr("records were removed"));
  fs::remove(path(kFirst));
  EXPECT_THAT(refusal(), HasSubstr("cannot open"));
  EXPECT_NE(wrong(), "");
}

TEST_F(LogWriting, NothingIsAddedToALogWithoutItsHead) {
  make_log(3);
  fs::remove(path("head"));
  EXPECT_THAT(refusal(), HasSubstr("has records, but no head"));
  write(path("head"), "");
  EXPECT_THAT(refusal(), HasSubstr("is damaged"));
}

TEST_F(LogWriting, AHeadThatWasBegunAndNotWrittenIsBegunAgain) {
  fs::create_directory(settings().directory);
  ::chmod(settings().directory.c_str(), 0700);
  write(path("head"), "");
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(wrong(), "");
}

TEST_F(LogWriting, LinksAndPipesAreNotWrittenTo) {
  make_log(1);
  for (const char* const name : {kFirst, "head", "lock"}) {
    fs::rename(path(name), top() / "aside");
    fs::create_symlink(top() / "aside", path(name));
    EXPECT_THAT(refusal(), HasSubstr("is a link")) << name;
    fs::remove(path(name));
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    EXPECT_THAT(refusal(), HasSubstr("is not a regular file")) << name;
    fs::remove(path(name));
    fs::rename(top() / "aside", path(name));
  }
  EXPECT_EQ(refusal(), "");
}

// The kernel writes what fits below the limit, and then no more: as on a full disk.
TEST_F(LogWriting, AFullDiskIsAnErrorAndLeavesNoHalfRecord) {
  make_log(1);
  const auto log = open_log();
  ASSERT_TRUE(append(*log, "fits"));
  const auto size = fs::file_size(path(kFirst));
  (void)std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit full{.rlim_cur = size + 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
  const auto written = append(*log, "does not fit");
  EXPECT_EQ(fs::file_size(path(kFirst)), size);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("cannot write to the audit log"));
  EXPECT_EQ(wrong(), "");
  EXPECT_EQ(verified().unfinished, 0U);
  EXPECT_EQ(append(*log, "fits again").value(), 3U);
  EXPECT_EQ(wrong(), "");
}

TEST_F(LogWriting, ThreadsWithOneLogAndWithOneEachDoNotDisturbEachOther) {
  constexpr int kThreads = 8;
  constexpr int kEach = 50;
  settings().max_file_size = 16384;
  const auto shared = open_log();
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::set<std::uint64_t> sequences;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto own = t % 2 == 0 ? nullptr : open_log();
      for (int i = 0; i < kEach; ++i) {
        const auto sequence = append(own ? *own : *shared, "x");
        ASSERT_TRUE(sequence) << sequence.error().message;
        const std::scoped_lock guard(mutex);
        EXPECT_TRUE(sequences.insert(*sequence).second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sequences.size(), kThreads * kEach);
  EXPECT_EQ(wrong(), "");
  EXPECT_EQ(verified().records, kThreads * kEach + verified().files - 1);
}

TEST_F(LogWriting, DurableRecordsAreWrittenLikeOthers) {
  settings().durable = true;
  settings().max_file_size = 4096;
  make_log(15);
  EXPECT_EQ(wrong(), "");
  EXPECT_GE(verified().files, 2U);
}

TEST_F(LogWriting, EntriesOfOneCallStayTogether) {
  const auto log = open_log();
  const std::vector<Entry> three(3, Entry{.operation = Operation::limit, .run = "r"});
  EXPECT_EQ(log->append(three).value(), 3U);
  EXPECT_EQ(verified().records, 3U);
  EXPECT_EQ(wrong(), "");
}

}  // namespace
}  // namespace cordon::audit
