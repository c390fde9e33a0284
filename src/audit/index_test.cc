#include "audit/index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "audit/test_log.h"
#include "support/must_work.h"

namespace cordon::audit {
namespace {

namespace fs = std::filesystem;

class AuditIndex : public LogTest {
 protected:
  void record(const std::string& run, Operation operation, const std::string& program,
              const std::string& verdict = "") {
    const auto log = open_log();
    const Entry entry{.operation = operation,
                      .run = run,
                      .program = program,
                      .outcome = verdict.empty() ? "" : R"({"verdict":")" + verdict + R"("})"};
    ASSERT_TRUE(log->append({&entry, 1}));
  }
  void make_runs() {
    record("aa01", Operation::start, "/bin/one");
    record("aa01", Operation::exit, "/bin/one", "exited");
    record("aa02", Operation::start, "/bin/two");
    record("aa02", Operation::exit, "/bin/two", "timeout");
    record("bb03", Operation::refused, "three", "denied");
  }
  // The sequences of the records that are found.
  [[nodiscard]] std::vector<std::uint64_t> found(const Filter& filter, std::uint64_t most = 0) {
    const auto directory = Directory::to_read(settings().directory);
    const auto positions = find_records(*directory, filter, most);
    EXPECT_TRUE(positions) << positions.error().message;
    std::vector<std::uint64_t> sequences;
    if (!positions) return sequences;
    for (const Position at : *positions) {
      const auto record = read_record(line_at(*directory, at).value());
      EXPECT_TRUE(record && filter.matches(*record));
      sequences.push_back(record ? record->sequence : 0);
    }
    return sequences;
  }
};

using Sequences = std::vector<std::uint64_t>;

TEST_F(AuditIndex, FindsByEachPartOfAFilter) {
  make_runs();
  EXPECT_EQ(found({}), (Sequences{1, 2, 3, 4, 5}));
  EXPECT_EQ(found({.run = "aa02"}), (Sequences{3, 4}));
  EXPECT_EQ(found({.run = "aa"}), (Sequences{1, 2, 3, 4}));
  EXPECT_EQ(found({.run = "a_"}), Sequences{});
  EXPECT_EQ(found({.verdict = "timeout"}), Sequences{4});
  EXPECT_EQ(found({.program = "/bin/*"}), (Sequences{1, 2, 3, 4}));
  EXPECT_EQ(found({.program = "*o*", .operation = "exit"}), (Sequences{2, 4}));
  EXPECT_EQ(found({.since = "2020-01-01T00:00:00.000000Z"}), (Sequences{1, 2, 3, 4, 5}));
  EXPECT_EQ(found({.until = "2020-01-01T00:00:00.000000Z"}), Sequences{});
  EXPECT_EQ(found({.run = "aa"}, 2), (Sequences{3, 4}));
}

TEST_F(AuditIndex, FollowsTheLogAcrossFiles) {
  settings().max_file_size = 4096;
  make_runs();
  EXPECT_EQ(found({.run = "cc"}), Sequences{});
  make_log(30);
  record("cc04", Operation::start, "late");
  ASSERT_TRUE(fs::exists(path(file_name(2))));
  EXPECT_EQ(found({.run = "cc"}).size(), 1U);
  EXPECT_EQ(found({.run = "aa"}), (Sequences{1, 2, 3, 4}));
}

TEST_F(AuditIndex, TellsWhetherARunIsNamedUniquely) {
  make_runs();
  const auto directory = Directory::to_read(settings().directory);
  EXPECT_THAT(find_runs(*directory, "bb").value(), testing::ElementsAre("bb03"));
  EXPECT_EQ(find_runs(*directory, "aa").value().size(), 2U);
  EXPECT_THAT(find_runs(*directory, "zz").value(), testing::IsEmpty());
}

TEST_F(AuditIndex, IsMadeAnewWhenTheLogIsAnotherOne) {
  make_runs();
  EXPECT_EQ(found({.run = "aa"}).size(), 4U);
  fs::rename(path(kIndexFile), top() / "aside");
  fs::remove_all(settings().directory);
  for (int i = 0; i < 6; ++i) record("dd05", Operation::start, "other");
  fs::rename(top() / "aside", path(kIndexFile));
  EXPECT_EQ(found({.run = "aa"}), Sequences{});
  EXPECT_EQ(found({.run = "dd"}).size(), 6U);
}

TEST_F(AuditIndex, IsMadeAnewWhenItIsDamagedAtAnyPlace) {
  make_runs();
  EXPECT_EQ(found({.run = "aa"}).size(), 4U);
  const std::string whole = read(path(kIndexFile));
  for (std::size_t page = 0; page < whole.size(); page += 4096) {
    std::string damaged = whole;
    damaged.replace(page, std::min<std::size_t>(4096, damaged.size() - page), 4096, '\xff');
    write(path(kIndexFile), damaged);
    EXPECT_EQ(found({.run = "aa"}).size(), 4U) << "page " << page / 4096;
  }
  for (const std::string& text :
       {std::string("no database"), std::string(), whole.substr(0, 5000)}) {
    write(path(kIndexFile), text);
    EXPECT_EQ(found({.run = "aa"}).size(), 4U);
  }
}

TEST_F(AuditIndex, IsNotKeptThroughALink) {
  make_runs();
  write(top() / "victim", "untouched");
  fs::create_symlink(top() / "victim", path(kIndexFile));
  EXPECT_EQ(found({.run = "aa"}).size(), 4U);
  EXPECT_EQ(read(top() / "victim"), "untouched");
}

TEST_F(AuditIndex, OfSomebodyElsesIsNotBelieved) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "needs root, to give a directory away");
  make_runs();
  ASSERT_EQ(::chown(settings().directory.c_str(), 12345, 12345), 0);
  EXPECT_EQ(found({.run = "aa"}).size(), 4U);
  EXPECT_FALSE(fs::exists(path(kIndexFile)));
}

}  // namespace
}  // namespace cordon::audit
