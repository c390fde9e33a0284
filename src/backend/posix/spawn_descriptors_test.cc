// Which descriptors a spawned program has, wherever they come from.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "backend/posix/spawn.h"
#include "backend/posix/spawn_test_support.h"
#include "base/fd.h"

namespace cordon::posix {
namespace {

using base::Fd;
using testing::ElementsAre;

TEST(SpawnDescriptorsTest, NoneAboveTwoSurvives) {
  rlimit own{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &own), 0);
  if (own.rlim_max < 4097) GTEST_SKIP() << "needs a hard limit of 4097 open files";
  rlimit raised = own;
  raised.rlim_cur = own.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &raised), 0);

  std::vector<Fd> open;
  for (const int number : {3, 4, 62, 63, 64, 65, 1023, 1024, 4096}) {
    if (::fcntl(number, F_GETFD) != -1) continue;      // somebody else's, as good as ours
    ASSERT_EQ(::dup2(STDERR_FILENO, number), number);  // without close-on-exec
    open.emplace_back(number);
  }
  ASSERT_FALSE(open.empty());
  Program program({"/bin/ls", "/proc/self/fd"});
  const std::string listed = output_of(program);
  open.clear();
  ::setrlimit(RLIMIT_NOFILE, &own);
  // ls itself opens the directory, with the lowest free number.
  EXPECT_THAT(split(listed), ElementsAre("0", "1", "2", "3"));
}

// It is there for the size of the table alone: nothing can be read from it, nor written to it.
TEST(SpawnDescriptorsTest, RoomIsOneMoreThatIsGoodForNothing) {
  Program listing({"/bin/ls", "/proc/self/fd"});
  listing.plan.room_up_to = 511;
  EXPECT_THAT(split(output_of(listing)), ElementsAre("0", "1", "2", "3", "511"));
  Program using_it({"/bin/bash", "-c", "! cat <&511 && ! echo x >&511"});
  using_it.plan.room_up_to = 511;
  const Spawned spawned = spawn(using_it.plan);
  EXPECT_EQ(wait_for(spawned.pid), 0);
}

TEST(SpawnDescriptorsTest, RoomThatIsNotAllowedIsDoneWithout) {
  Program program({"/bin/ls", "/proc/self/fd"});
  program.plan.room_up_to = 1 << 30;
  EXPECT_THAT(split(output_of(program)), ElementsAre("0", "1", "2", "3"));
}

TEST(SpawnDescriptorsTest, HighSourcesArriveAndAreClosed) {
  const Fd file(::memfd_create("high", MFD_CLOEXEC));
  const Fd high(::fcntl(file.get(), F_DUPFD_CLOEXEC, 700));
  ASSERT_GE(high.get(), 700);
  Program program({"/bin/ls", "/proc/self/fd"});
  program.plan.stdio[1] = high.get();
  const Spawned spawned = spawn(program.plan);
  EXPECT_EQ(wait_for(spawned.pid), 0);
  EXPECT_THAT(split(content(file.get())), ElementsAre("0", "1", "2", "3"));
}

// Puts files of the test's own onto 0, 1 and 2 (or nothing), and the caller's back afterwards.
// Nothing may be printed meanwhile.
class Rearranged {
 public:
  explicit Rearranged(const std::array<int, 3>& files) {
    for (int fd = 0; fd < 3; ++fd) {
      saved_[static_cast<std::size_t>(fd)].reset(::fcntl(fd, F_DUPFD_CLOEXEC, 300));
      const int file = files[static_cast<std::size_t>(fd)];
      if (file >= 0) {
        ::dup2(file, fd);
      } else {
        ::close(fd);
      }
    }
  }
  ~Rearranged() {
    for (int fd = 0; fd < 3; ++fd) ::dup2(saved_[static_cast<std::size_t>(fd)].get(), fd);
  }
  Rearranged(const Rearranged&) = delete;
  Rearranged& operator=(const Rearranged&) = delete;

 private:
  std::array<Fd, 3> saved_;
};

struct Arrival {
  bool started = false;
  int status = -1;
  std::string where;  // what the program found behind its 0, 1 and 2
};

// The sources may be any of 0, 1, 2 (files A, B, C) and 20, 21, 22 (D, E, F).
class SpawnStreamsTest : public testing::Test {
 protected:
  SpawnStreamsTest() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const std::string name = std::string("stream") + kNames[i];
      files_[i].reset(
          ::fcntl(Fd(::memfd_create(name.c_str(), MFD_CLOEXEC)).get(), F_DUPFD_CLOEXEC, 200));
    }
    for (int i = 0; i < 3; ++i) {
      ::dup3(files_[static_cast<std::size_t>(3 + i)].get(), 20 + i, O_CLOEXEC);
      high_[static_cast<std::size_t>(i)].reset(20 + i);
    }
  }

  [[nodiscard]] static std::size_t file_behind(int source) {
    return static_cast<std::size_t>(source < 3 ? source : source - 20 + 3);
  }

  // `low`: whether the caller has 0, 1 and 2 open.
  void expect_arrival(const std::array<int, 3>& sources, bool low) {
    for (const Fd& file : files_) {
      ASSERT_EQ(::ftruncate(file.get(), 0), 0);
      ::lseek(file.get(), 0, SEEK_SET);
    }
    Arrival arrival;
    Program program({"/bin/readlink", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2"});
    for (int i = 0; i < 3; ++i) program.plan.stdio[i] = sources[static_cast<std::size_t>(i)];
    {
      std::array<int, 3> below{-1, -1, -1};
      if (low) below = {files_[0].get(), files_[1].get(), files_[2].get()};
      const Rearranged rearranged(below);
      const Spawned spawned = spawn(program.plan);
      arrival.started = spawned.pid > 0 && program.plan.failed_step == Step::none;
      if (arrival.started) arrival.status = wait_for(spawned.pid);
    }
    arrival.where = content(files_[file_behind(sources[1])].get());

    std::string expected;
    for (const int source : sources) {
      expected += std::string("/memfd:stream") + kNames[file_behind(source)] + " (deleted)\n";
    }
    const std::string asked = testing::PrintToString(sources);
    EXPECT_TRUE(arrival.started) << asked;
    EXPECT_EQ(arrival.status, 0) << asked;
    EXPECT_EQ(arrival.where, expected) << asked;
  }

  static constexpr char kNames[] = "ABCDEF";
  std::array<Fd, 6> files_;
  std::array<Fd, 3> high_;
};

TEST_F(SpawnStreamsTest, EveryArrangementOfLowAndHighSourcesArrives) {
  constexpr int kSources[] = {0, 1, 2, 20, 21, 22};
  for (const int in : kSources) {
    for (const int out : kSources) {
      for (const int err : kSources) expect_arrival({in, out, err}, true);
    }
  }
}

TEST_F(SpawnStreamsTest, CallerMayHaveItsOwnStreamsClosed) {
  expect_arrival({20, 21, 22}, false);
  expect_arrival({22, 21, 20}, false);
  expect_arrival({20, 20, 20}, false);
}

}  // namespace
}  // namespace cordon::posix
