#include "cordon/workdir.h"

#include <gmock/gmock.h>
#include <sys/file.h>

#include <regex>
#include <thread>

#include "support/must_work.h"
#include "workdir/testing.h"

namespace cordon::workdir {
namespace {

using testing::HasSubstr;

class WorkDirs : public TreeTest {
 protected:
  [[nodiscard]] WorkDirOptions options() const {
    return {.cache = path("cache"), .name = "server", .version = "1.2"};
  }
  [[nodiscard]] std::string work() const { return path("cache/work"); }
  // What a process that was killed leaves behind.
  [[nodiscard]] std::string leave(const std::string& name) const {
    make("cache/work/" + name + "/tmp/a/b");
    write_file(work() + "/" + name + "/tmp/a/b/f");
    for (const char* const above : {"cache", "cache/work"}) ::chmod(path(above).c_str(), 0700);
    return work() + "/" + name;
  }
};

TEST_F(WorkDirs, AreFreshAndPrivate) {
  const auto made = WorkDir::create(options());
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(std::regex_match(made->path(), std::regex(work() + "/server-1\\.2-[0-9]{19}")))
      << made->path();
  for (const std::string& each : {made->path(), made->tmp(), made->log()}) {
    EXPECT_EQ(mode_of(each), 0700U) << each;
  }
  EXPECT_EQ(entries_in(made->path()), 2U);
}

TEST_F(WorkDirs, ArePrivateWhateverTheUmask) {
  const mode_t before = ::umask(0777);
  const auto made = WorkDir::create(options());
  ::umask(before);
  if (::geteuid() != 0) GTEST_SKIP() << "nobody but root can go on after such a mkdir";
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(mode_of(made->tmp()), 0700U);
}

TEST_F(WorkDirs, AreDifferentEvenIfTheClockStands) {
  SteppingClock clock;
  WorkDirOptions still = options();
  still.clock = &clock;
  std::vector<WorkDir> all;
  for (int i = 0; i < 20; ++i) {
    auto made = WorkDir::create(still);
    ASSERT_TRUE(made);
    all.push_back(*std::move(made));
  }
  EXPECT_EQ(entries_in(work()), 20U);
  all.clear();
  EXPECT_EQ(entries_in(work()), 0U);
}

TEST_F(WorkDirs, AreRemovedAtTheEndOfTheirScope) {
  {
    const auto made = WorkDir::create(options());
    ASSERT_TRUE(made);
    write_file(made->tmp() + "/f");
  }
  EXPECT_EQ(entries_in(work()), 0U);
}

TEST_F(WorkDirs, CanBeKept) {
  std::string kept;
  {
    auto made = WorkDir::create(options());
    ASSERT_TRUE(made);
    ASSERT_TRUE(made->keep());
    kept = made->path();
    write_file(made->tmp() + "/f");
    EXPECT_TRUE(made->remove()) << "does nothing";
  }
  EXPECT_TRUE(std::filesystem::exists(kept + "/tmp/f"));
  {
    ASSERT_TRUE(WorkDir::create(options()));
  }
  EXPECT_TRUE(std::filesystem::exists(kept + "/tmp/f")) << "is not swept";
}

TEST_F(WorkDirs, OfDeadProcessesAreSwept) {
  (void)leave("a-0-1");
  const std::string shut = leave("b-0-2");
  ASSERT_EQ(::chmod(shut.c_str(), 0), 0);
  for (int i = 0; i < 100; ++i) (void)leave("many-0-" + std::to_string(i));
  SteppingClock clock;  // stands, so the time given to sweeping is never over
  WorkDirOptions patient = options();
  patient.clock = &clock;
  const auto made = WorkDir::create(patient);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->sweep_complaint(), "");
  EXPECT_EQ(entries_in(work()), 1U);
}

TEST_F(WorkDirs, InUseAreNotSwept) {
  const std::string used = leave("a-0-1");
  const base::Fd user = open_directory(used);
  ASSERT_EQ(::flock(user.get(), LOCK_EX), 0);
  (void)leave("notes");
  const Bait bait(path("bait"));
  ASSERT_EQ(::symlink(bait.path().c_str(), (work() + "/x-0-9").c_str()), 0);
  {
    const auto first = WorkDir::create(options());
    ASSERT_TRUE(first);
    const auto second = WorkDir::create(options());
    ASSERT_TRUE(second);
    EXPECT_TRUE(std::filesystem::exists(first->tmp()));
  }
  EXPECT_TRUE(std::filesystem::exists(used + "/tmp/a/b/f"));
  EXPECT_TRUE(std::filesystem::exists(work() + "/notes"));
  EXPECT_TRUE(bait.intact());
}

TEST_F(WorkDirs, MadeAtTheSameTimeDoNotSweepEachOther) {
  const auto make_many = [&] {
    for (int i = 0; i < 50; ++i) {
      auto made = WorkDir::create(options());
      ASSERT_TRUE(made) << made.error().message;
      EXPECT_EQ(made->sweep_complaint(), "");
      EXPECT_TRUE(std::filesystem::exists(made->tmp()));
      EXPECT_TRUE(std::filesystem::exists(made->log()));
      const auto removed = made->remove();
      EXPECT_TRUE(removed) << removed.error().message;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(make_many);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(entries_in(work()), 0U);
}

TEST_F(WorkDirs, ThatTakeTooLongAreLeftToTheNext) {
  {
    auto made = WorkDir::create(options());
    ASSERT_TRUE(made);
    for (int i = 0; i < 100; ++i) write_file(made->tmp() + "/" + std::to_string(i));
    const auto removed = made->remove(Duration{0});
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, ErrorCode::timed_out);
    EXPECT_THAT(removed.error().message,
                HasSubstr("cleanup timeout: directory may leak: " + made->path()));
  }
  EXPECT_EQ(entries_in(work()), 1U);
  {
    ASSERT_TRUE(WorkDir::create(options()));
  }
  EXPECT_EQ(entries_in(work()), 0U);
}

TEST_F(WorkDirs, BelongToWhomTheyAreFor) {
  if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "only root can give a directory away");
  WorkDirOptions theirs = options();
  theirs.owner = User{1234, 1235};
  const auto made = WorkDir::create(theirs);
  ASSERT_TRUE(made);
  for (const std::string& each : {made->path(), made->tmp(), made->log()}) {
    struct stat found{};
    ASSERT_EQ(::stat(each.c_str(), &found), 0);
    EXPECT_EQ(found.st_uid, 1234U);
    EXPECT_EQ(found.st_gid, 1235U);
  }
}

TEST_F(WorkDirs, AreWhatARequestRunsIn) {
  const auto made = WorkDir::create(options());
  ASSERT_TRUE(made);
  Request request;
  made->use_in(request);
  EXPECT_EQ(request.cwd, made->path());
  ASSERT_EQ(request.grants.size(), 1U);
  EXPECT_EQ(request.grants[0], Grant::write(made->path()));
  ASSERT_EQ(request.env.size(), 1U);
  EXPECT_EQ(request.env[0].name + "=" + request.env[0].value, "TMPDIR=" + made->tmp());

  Request own;
  own.env.push_back({"TMPDIR", "/elsewhere"});
  made->use_in(own);
  EXPECT_EQ(own.env.size(), 1U) << "what the request says counts";
}

TEST_F(WorkDirs, ArePlannedWithoutBeingMade) {
  EXPECT_EQ(WorkDir::planned_path(options()).value(), work() + "/server-1.2-NANOS");
  EXPECT_FALSE(std::filesystem::exists(path("cache")));
}

TEST_F(WorkDirs, GiveOutWhatIsCollected) {
  const auto made = WorkDir::create(options());
  ASSERT_TRUE(made);
  write_file(made->path() + "/result", "42");
  const auto by_path = made->collect({.globs = {"result"}, .into = path("into")});
  ASSERT_TRUE(by_path) << by_path.error().message;
  EXPECT_EQ(content_of(path("into/result")), "42");

  const std::string other = make("other");
  ASSERT_EQ(::chmod(other.c_str(), 0700), 0);
  const base::Fd open = open_directory(other);
  ASSERT_EQ(::rename(other.c_str(), path("moved").c_str()), 0);
  ASSERT_EQ(::symlink(path("into").c_str(), other.c_str()), 0);
  ASSERT_TRUE(made->collect({.globs = {"result"}, .into = other, .into_fd = open.get()}));
  EXPECT_EQ(content_of(path("moved/result")), "42") << "the directory that was opened";
}

}  // namespace
}  // namespace cordon::workdir
