// What was checked is what runs, whatever is put in its place meanwhile.
//   CORDON_SOAK_EXCHANGES  how often the program changes places with another while runs start
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "base/fd.h"
#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

namespace fs = std::filesystem;

constexpr int kGood = 0;  // of /bin/true
constexpr int kEvil = 1;  // of /bin/false

// Two programs change places all the time.
class Exchanging {
 public:
  Exchanging(std::string first, std::string second)
      : thread_([this, first = std::move(first),
                 second = std::move(second)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE);
            count_.fetch_add(1, std::memory_order_relaxed);
          }
        }) {}
  [[nodiscard]] int count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> count_ = 0;
  std::jthread thread_;  // the last: it uses what is above
};

struct Programs {
  Folder folder;
  std::string checked = folder.path("checked");
  std::string other = folder.path("other");

  Programs() {
    fs::copy_file("/bin/true", checked);
    fs::copy_file("/bin/false", other);
    ::chmod(checked.c_str(), 0755);
    ::chmod(other.c_str(), 0755);
  }
  [[nodiscard]] Request request() const {
    Request request{.program = checked, .cwd = "/usr"};
    request.grants.push_back(Grant::read(folder.path()));
    return request;
  }
};

class Pinned : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(GetParam()); }
  static uid_t user() { return GetParam() ? kOrdinaryUser : ::geteuid(); }
};

TEST_P(Pinned, WhatTakesThePlaceOfTheProgramDoesNotRun) {
  in_own_process(user(), [] {
    const Programs programs;
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    const base::Fd checked(::open(programs.checked.c_str(), O_PATH | O_CLOEXEC));
    Request request = programs.request();
    ASSERT_EQ(run_to_end(*manager, request).exit_code, kGood);
    fs::rename(programs.checked, programs.folder.path("aside"));
    fs::rename(programs.other, programs.checked);
    // Without the pin the other one runs: this is what it is there for.
    ASSERT_EQ(run_to_end(*manager, request).exit_code, kEvil);
    ASSERT_EQ(run_to_end(*manager, request).exit_code, kEvil);
    request.pins.push_back({programs.checked, checked.get()});
    Outcome outcome = run_to_end(*manager, request);
    if (GetParam()) {
      // An ordinary user's sandbox opens it once more by its name, and sees the difference.
      ASSERT_TRUE(outcome.error) << to_json(outcome);
      EXPECT_EQ(outcome.error->code, ErrorCode::not_permitted) << outcome.error->message;
    } else {
      EXPECT_EQ(outcome.exit_code, kGood) << to_json(outcome);
    }
    // A file that is gone cannot be mounted.
    fs::remove(programs.folder.path("aside"));
    outcome = run_to_end(*manager, request);
    ASSERT_TRUE(outcome.error) << to_json(outcome);
    EXPECT_EQ(outcome.error->code, ErrorCode::not_permitted);
    EXPECT_THAT(outcome.error->message, testing::HasSubstr("was replaced after it was checked"));
  });
}

// The supervisor holds it open; the program must not.
TEST_P(Pinned, ProgramHasNoDescriptorOfItself) {
  in_own_process(user(), [] {
    const Folder folder;
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    const std::string shell = fs::canonical("/bin/sh");
    const base::Fd checked(::open(shell.c_str(), O_PATH | O_CLOEXEC));
    Request request{.program = shell, .cwd = "/usr"};
    request.args = {"-c",
                    "test ! -e /proc/$$/fd/3 && test ! -e /proc/$$/fd/4 && "
                    "test \"$(readlink /proc/$$/exe)\" = \"$1\"",
                    "sh", shell};
    request.pins.push_back({shell, checked.get()});
    for (int i = 0; i < 3; ++i) {  // with a root of its own, and a shared one
      const Outcome outcome = run_to_end(*manager, request);
      EXPECT_EQ(outcome.exit_code, 0) << to_json(outcome);
    }
  });
}

TEST_P(Pinned, ProgramExchangedAllTheTimeNeverRuns) {
  const int wanted = count_from("CORDON_SOAK_EXCHANGES", 20'000);
  in_own_process(user(), [wanted] {
    const Programs programs;
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    const base::Fd checked(::open(programs.checked.c_str(), O_PATH | O_CLOEXEC));
    Request request = programs.request();
    request.pins.push_back({programs.checked, checked.get()});
    int tried = 0;
    int ran = 0;
    const Exchanging exchanging(programs.checked, programs.other);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const auto unseen = [&] { return ran == 0 && std::chrono::steady_clock::now() < until; };
    for (; exchanging.count() < wanted || unseen(); ++tried) {
      const Outcome outcome = run_to_end(*manager, request);
      if (outcome.verdict == Verdict::failed_to_start) continue;
      ASSERT_EQ(outcome.verdict, Verdict::exited) << to_json(outcome);
      ASSERT_EQ(outcome.exit_code, kGood);
      ++ran;
    }
    EXPECT_GT(ran, 0);
    std::printf("figure: %d exchanges, %d runs, %d of them started, 0 wins\n", exchanging.count(),
                tried, ran);
  });
}

TEST_P(Pinned, CannotBeChangedFromInside) {
  in_own_process(user(), [] {
    const Programs programs;
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    const base::Fd checked(::open(programs.checked.c_str(), O_PATH | O_CLOEXEC));
    Request request{.program = "/bin/sh", .cwd = "/usr"};
    request.args = {"-c", "echo > \"$1\" || rm -f \"$1\" || mv \"$2\" \"$1\"", "sh",
                    programs.checked, programs.other};
    request.err = Output::discard();
    request.grants.push_back(Grant::write(programs.folder.path()));
    request.pins.push_back({programs.checked, checked.get()});
    const auto size = fs::file_size(programs.checked);
    const Outcome outcome = run_to_end(*manager, request);
    EXPECT_EQ(outcome.verdict, Verdict::exited) << to_json(outcome);
    EXPECT_NE(outcome.exit_code, 0);
    EXPECT_EQ(fs::file_size(programs.checked), size);
  });
}

TEST_P(Pinned, ProgramIsToldTheNameItIsCalledBy) {
  in_own_process(user(), [] {
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    Request request{.program = "/bin/sh", .cwd = "/usr"};
    request.argv0 = "called";
    request.args = {"-c", "test \"$0\" = called"};
    EXPECT_EQ(run_to_end(*manager, request).exit_code, 0);
  });
}

TEST_P(Pinned, OnlyRegularFilesCanBe) {
  in_own_process(user(), [] {
    const Programs programs;
    const auto manager = make_manager();
    ASSERT_TRUE(manager);
    const base::Fd folder(::open(programs.folder.path().c_str(), O_PATH | O_CLOEXEC));
    Request request = programs.request();
    request.pins.push_back({programs.checked, folder.get()});
    const Outcome outcome = run_to_end(*manager, request);
    ASSERT_TRUE(outcome.error) << to_json(outcome);
    EXPECT_EQ(outcome.error->stage, "pin");
  });
}

INSTANTIATE_TEST_SUITE_P(, Pinned, testing::Bool(),
                         [](const auto& user) { return user.param ? "OrdinaryUser" : "Caller"; });

}  // namespace
}  // namespace cordon::linux_tests
