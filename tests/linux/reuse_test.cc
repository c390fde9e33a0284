// What a tenant's run leaves, and that the next one, which uses what is expensive to make again,
// sees nothing of it.
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "base/fd.h"
#include "linux/reuse_pool.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;

struct Leftover {
  const char* effect;  // of the run before
  const char* kind;    // as tests/programs/leftover names it
  Network network = Network::none;
  bool kept = false;     // in what is used again: it takes a look to see that it is there
  bool refused = false;  // it cannot even be left
};

void PrintTo(const Leftover& leftover, std::ostream* out) { *out << leftover.effect; }

class NextRun : public testing::TestWithParam<Leftover> {
 protected:
  void SetUp() override {
    CORDON_NEEDS_SANDBOX(false);
    if (::geteuid() != 0) CORDON_SKIP_WITHOUT("root", "others have networks that nobody can join");
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    held_ = base::Fd(ends[0]);
    theirs_ = base::Fd(ends[1]);
  }

  [[nodiscard]] Request leftover(const char* verb) const {
    return {.program = CORDON_TEST_PROGRAMS_DIR "/leftover",
            .args = {verb, GetParam().kind},
            .cwd = CORDON_TEST_PROGRAMS_DIR,
            .in = Input::from_fd(theirs_.get()),
            .timeout = 20s,
            .network = GetParam().network,
            .reuse = tenant()};
  }
  // Runs until something was reused, which the first that was ready before could not.
  struct Seen {
    bool found = false;
    bool reused = false;
  };
  [[nodiscard]] Seen look(ReusePool& pool) const {
    Seen seen;
    for (int i = 0; i < 5 && !seen.found; ++i) {
      const Outcome outcome = pool.run(leftover("find"));
      EXPECT_THAT(outcome.out, testing::AnyOf("found\n", "nothing\n")) << to_json(outcome);
      seen.found = outcome.out == "found\n";
      seen.reused = seen.reused || outcome.launch == Launch::reused;
      if (seen.reused) break;
    }
    return seen;
  }
  void leave(ReusePool& pool) const {
    const Outcome outcome = pool.run(leftover("leave"));
    ASSERT_EQ(outcome.out, GetParam().refused ? "refused\n" : "left\n") << to_json(outcome);
  }

  base::Fd held_;  // receives what is left, and never reads it
  base::Fd theirs_;
};

TEST_P(NextRun, DoesNotSee) {
  ReusePool pool;
  leave(pool);
  const Seen seen = look(pool);
  EXPECT_FALSE(seen.found);
  EXPECT_TRUE(seen.reused) << "nothing was";
}

// So that the test above is known to be one.
TEST_P(NextRun, WouldSeeWithoutALook) {
  if (!GetParam().kept) GTEST_SKIP() << "by design: nothing that has it is used again";
  ReusePool pool({.unclean = true});
  leave(pool);
  EXPECT_TRUE(look(pool).found);
}

INSTANTIATE_TEST_SUITE_P(
    AfterATenantsRun, NextRun,
    testing::Values(
        Leftover{"FileInTmp", "file-in-tmp"}, Leftover{"FileInSharedMemory", "file-in-shm"},
        Leftover{"AbstractSocket", "abstract-socket"},
        Leftover{"AbstractSocketThatSomebodyHolds", "abstract-socket-held", Network::none, true},
        Leftover{"AbstractSocketInACycle", "abstract-socket-cycle"},
        Leftover{"ListeningPort", "port", Network::loopback},
        Leftover{"PortThatSomebodyHolds", "port-held", Network::loopback, true},
        Leftover{"ConnectionInTimeWait", "time-wait", Network::loopback, true},
        Leftover{"CountOfFailedConnections", "counter", Network::none, true},
        Leftover{"LingeringFlowLabel", "flow-label", Network::none, true},
        Leftover{"SysvSharedMemory", "shared-memory"}, Leftover{"SysvSemaphore", "semaphore"},
        Leftover{"SysvMessageQueue", "message-queue", Network::none, false, true},
        Leftover{"PosixMessageQueue", "posix-message-queue", Network::none, false, true},
        Leftover{"BackgroundProcess", "process"}, Leftover{"ChangedLimit", "limit"},
        Leftover{"KeyInAKeyring", "key", Network::none, false, true}),
    [](const auto& with) { return std::string(with.param.effect); });

}  // namespace
}  // namespace cordon::linux_tests
