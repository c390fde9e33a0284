// Every way to tamper with a log that verification promises to find. Each test spoils a log that
// verified before, so it fails if the check for it goes away.
#include "audit/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "audit/test_log.h"
#include "base/sha256.h"

namespace cordon::audit {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kFirst = "audit-00000001.jsonl";

class Verify : public LogTest {
 protected:
  void make_checked_log(int records) {
    make_log(records);
    ASSERT_EQ(wrong(), "");
    ASSERT_EQ(verified().records, static_cast<std::uint64_t>(records));
  }
  // Of three files or more.
  void make_rotated_log() {
    settings().max_file_size = 4096;
    make_log(40);
    ASSERT_EQ(wrong(), "");
    ASSERT_GE(verified().files, 3U);
  }
  // A line as an attacker without a key would seal it again.
  static std::string sealed_again(const std::string& line) {
    const std::string text = line.substr(0, line.rfind(R"(,"hash":)"));
    return text + R"(,"hash":")" + base::to_hex(base::sha256(text)) + R"("})";
  }
};

TEST_F(Verify, FindsNothingWrongWithAnUntouchedLog) {
  make_checked_log(5);
  EXPECT_EQ(verified().head.sequence, 5U);
  EXPECT_EQ(verified().files, 1U);
}

TEST_F(Verify, FindsEveryChangedByte) {
  make_checked_log(3);
  const std::string whole = read(path(kFirst));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    write(path(kFirst), changed);
    ASSERT_NE(wrong(), "") << "byte " << i;
  }
  write(path(kFirst), whole);
  EXPECT_EQ(wrong(), "");
}

TEST_F(Verify, NamesTheFileAndLineOfAChangedRecord) {
  make_checked_log(5);
  auto all = lines(path(kFirst));
  all[2].replace(all[2].find("record 2"), 8, "record 7");
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr("audit-00000001.jsonl:3: was changed"));
  EXPECT_EQ(verified().defect_count, 1U);
}

TEST_F(Verify, FindsAChangedRecordThatWasSealedAgain) {
  make_checked_log(5);
  auto all = lines(path(kFirst));
  all[2].replace(all[2].find("record 2"), 8, "record 7");
  all[2] = sealed_again(all[2]);
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr(":4: does not follow the record before"));
}

TEST_F(Verify, FindsTheLastRecordSealedAgain) {
  make_checked_log(5);
  auto all = lines(path(kFirst));
  all[4].replace(all[4].find("record 4"), 8, "record 7");
  all[4] = sealed_again(all[4]);
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr(":5: is not the record that the head knows"));
}

TEST_F(Verify, FindsEachRemovedLine) {
  make_checked_log(4);
  const auto all = lines(path(kFirst));
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto fewer = all;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    write_lines(path(kFirst), fewer);
    EXPECT_NE(wrong(), "") << "line " << i + 1;
  }
}

TEST_F(Verify, FindsSwappedLines) {
  make_checked_log(4);
  auto all = lines(path(kFirst));
  std::swap(all[1], all[2]);
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr(":2: is record 3 where 2 belongs"));
}

TEST_F(Verify, FindsARepeatedLine) {
  make_checked_log(4);
  auto all = lines(path(kFirst));
  all.push_back(all.back());
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr(":5: is record 4 where 5 belongs"));
}

TEST_F(Verify, FindsATruncatedTailAtEveryLength) {
  make_checked_log(3);
  const std::string whole = read(path(kFirst));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(path(kFirst), whole.substr(0, size));
    ASSERT_NE(wrong(), "") << size << " bytes";
  }
}

TEST_F(Verify, TellsHowManyRecordsWereCutOff) {
  make_checked_log(5);
  auto all = lines(path(kFirst));
  all.resize(3);
  write_lines(path(kFirst), all);
  EXPECT_THAT(wrong(), HasSubstr(":3: is followed by nothing, but the head knows 2 more"));
}

TEST_F(Verify, FindsEachRemovedFileOfARotatedSet) {
  make_rotated_log();
  const std::uint64_t count = verified().files;
  for (std::uint64_t number = 1; number <= count; ++number) {
    const std::string file = path(file_name(number));
    fs::rename(file, top() / "aside");
    EXPECT_THAT(wrong(), HasSubstr(file_name(number) + ":0: is missing"));
    fs::rename(top() / "aside", file);
  }
  EXPECT_EQ(wrong(), "");
}

TEST_F(Verify, FindsSwappedFiles) {
  make_rotated_log();
  fs::rename(path(file_name(1)), top() / "aside");
  fs::rename(path(file_name(2)), path(file_name(1)));
  fs::rename(top() / "aside", path(file_name(2)));
  EXPECT_NE(wrong(), "");
}

TEST_F(Verify, FindsAnEmptiedDirectory) {
  make_checked_log(2);
  for (const auto& entry : fs::directory_iterator(settings().directory)) fs::remove(entry.path());
  EXPECT_THAT(wrong(), HasSubstr("head:0: is missing or damaged"));
}

TEST_F(Verify, FindsAMissingOrDamagedHead) {
  make_checked_log(2);
  const std::string head = read(path("head"));
  fs::remove(path("head"));
  EXPECT_THAT(wrong(), HasSubstr("head:0: is missing or damaged"));
  for (const std::string& bad : {std::string(), std::string("{}"), head + head, head.substr(1)}) {
    write(path("head"), bad);
    EXPECT_THAT(wrong(), HasSubstr("head:0: is missing or damaged"));
  }
}

TEST_F(Verify, FindsAHeadThatKnowsAnotherRecord) {
  make_checked_log(2);
  Head head = *parse_head(read(path("head")));
  head.hash[5] = head.hash[5] == '0' ? '1' : '0';
  write(path("head"), head_line(head));
  EXPECT_THAT(wrong(), HasSubstr("is not the record that the head knows"));
}

TEST_F(Verify, FindsFilesOfAbsurdNumbers) {
  make_checked_log(2);
  for (const char* const name :
       {"audit-99999999999999999999.jsonl", "audit-1.jsonl", "audit-00000000.jsonl",
        "audit-18446744073709551615.jsonl", "audit-00000002.jsonl", "audit-.jsonl"}) {
    write(path(name), "");
    EXPECT_THAT(wrong(), HasSubstr(name));
    fs::remove(path(name));
  }
}

TEST_F(Verify, FindsHugeLines) {
  make_checked_log(2);
  const std::string whole = read(path(kFirst));
  write(path(kFirst), std::string(kLongestLine * 3, 'x') + "\n" + whole);
  EXPECT_THAT(wrong(), HasSubstr(":1: is too long to be a record"));
}

TEST_F(Verify, FindsFilesThatAreNoRegularFiles) {
  make_checked_log(2);
  fs::rename(path(kFirst), top() / "aside");
  fs::create_symlink(top() / "aside", path(kFirst));
  EXPECT_THAT(wrong(), HasSubstr("is a link"));
  fs::remove(path(kFirst));
  ASSERT_EQ(::mkfifo(path(kFirst).c_str(), 0600), 0);  // and does not wait for a writer
  EXPECT_THAT(wrong(), HasSubstr("is not a regular file"));
  fs::remove(path(kFirst));
  fs::create_directory(path(kFirst));
  EXPECT_THAT(wrong(), HasSubstr("is not a regular file"));
}

TEST_F(Verify, UnfinishedBytesBehindTheHeadAreNoDefect) {
  make_checked_log(2);
  add(path(kFirst), R"({"sequence":3,"oper)");
  EXPECT_EQ(wrong(), "");
  EXPECT_EQ(verified().unfinished, 19U);
}

TEST_F(Verify, WholeLinesBehindTheHeadMustBeRecords) {
  make_checked_log(2);
  add(path(kFirst), "forged\n");
  EXPECT_THAT(wrong(), HasSubstr(":3: is not a record"));
}

TEST_F(Verify, WithoutTheKeyNothingCanBeSealedAgain) {
  settings().key_file = key_file();
  make_log(3);
  const Sealer key = *Sealer::from_file(settings().key_file);
  ASSERT_EQ(wrong(key), "");
  EXPECT_NE(wrong(Sealer(std::string(32, 'x'))), "");
  const auto unkeyed = verify(settings().directory, Sealer());
  ASSERT_FALSE(unkeyed);
  EXPECT_THAT(unkeyed.error().message, HasSubstr("--key FILE"));

  // The whole log rewritten with plain hashes: consistent, and not ours.
  settings().key_file.clear();
  fs::remove_all(settings().directory);
  make_log(3);
  ASSERT_EQ(wrong(), "");
  EXPECT_THAT(wrong(key), HasSubstr("is not sealed with the key"));
}

TEST_F(Verify, OfWhatIsNotThereIsAnError) {
  const auto result = verify(top() / "nothing", Sealer());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace cordon::audit
