// How programs in a long-lived sandbox end, and the sandbox with them.
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "backend/linux/cgroup.h"
#include "linux/inside_harness.h"
#include "support/eventually.h"
#include "support/inside_manager.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using support::eventually;
using testing::HasSubstr;
using testing::IsEmpty;

class InsideLife : public InsideTest {};
INSTANTIATE_TEST_SUITE_P(, InsideLife, testing::Bool(),
                         [](const auto& user) { return user.param ? "ordinary" : "caller"; });

// A process that has left everything by which it could be found, but for its group.
std::string daemon_marked(const std::string& mark) {
  return "setsid sh -c 'setsid sleep 60 " + mark + " >/dev/null 2>&1 &' >/dev/null 2>&1; ";
}

// sleep takes any number of durations.
std::string any_mark() {
  static int count = 0;
  return std::to_string(::getpid()) + ".7" + std::to_string(++count) + "1";
}

TEST_P(InsideLife, WhatAProgramLeavesEndsWithIt) {
  inside(sleeper(), [](supervise::Container& container) {
    const std::string mark = any_mark();
    const std::string other = any_mark();
    auto stays = container.inside().create(shell("exec sleep 60 " + other)).value();
    ASSERT_TRUE(stays->start());
    const Outcome ended = run(container.inside(), shell(daemon_marked(mark) + "exit 3"));
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_THAT(processes_marked(mark), IsEmpty());
    EXPECT_EQ(processes_marked(other).size(), 1U);
    EXPECT_TRUE(container.main()->running());
  });
}

TEST_P(InsideLife, TimeoutEndsTheWholeTree) {
  inside(sleeper(), [](supervise::Container& container) {
    const std::string mark = any_mark();
    Request request =
        shell("trap '' TERM; " + daemon_marked(mark) + "echo ready; while :; do sleep 1; done");
    request.timeout = 500ms;
    request.grace = 50ms;
    const Outcome ended = run(container.inside(), request);
    EXPECT_EQ(ended.verdict, Verdict::timeout);
    EXPECT_EQ(ended.out, "ready\n");
    EXPECT_THAT(processes_marked(mark), IsEmpty());
    EXPECT_TRUE(container.main()->running());
  });
}

TEST_P(InsideLife, EndOfMainEndsAll) {
  Request main = shell("read stop; exit 4");
  main.cwd = "/usr";
  main.in = Input::pipe();
  inside(main, [](supervise::Container& container) {
    const std::string mark = any_mark();
    auto other = container.inside().create(shell(daemon_marked(mark) + "exec sleep 60")).value();
    ASSERT_TRUE(other->start());
    ASSERT_TRUE(eventually([&] { return !processes_marked(mark).empty(); }));
    auto later = container.inside().create(shell("true")).value();
    ASSERT_TRUE(container.main()->write_stdin("\n", 10s));
    EXPECT_EQ(container.main()->wait().value().exit_code, 4);
    EXPECT_EQ(other->wait().value().verdict, Verdict::signaled);
    EXPECT_THAT(processes_marked(mark), IsEmpty());
    const auto started = later->start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::wrong_state);
    EXPECT_THAT(started.error().message, HasSubstr("ended"));
    EXPECT_EQ(container.broken(), "");
  });
}

TEST_P(InsideLife, MainThatIsKilledEndsAll) {
  inside(sleeper(), [](supervise::Container& container) {
    auto other = container.inside().create(shell("exec sleep 60")).value();
    ASSERT_TRUE(other->start());
    ASSERT_TRUE(container.main()->kill());
    EXPECT_TRUE(container.main()->wait());
    EXPECT_EQ(other->wait().value().verdict, Verdict::signaled);
  });
}

TEST_P(InsideLife, WithoutItsNurseryItGoesOnButStartsNothing) {
  inside(sleeper(), [](supervise::Container& container) {
    auto other = container.inside().create(shell("read go; exit 5")).value();
    ASSERT_TRUE(other->set_stdin(Input::pipe()));
    ASSERT_TRUE(other->start());
    EXPECT_EQ(container.broken(), "");
    const Outcome killer = run(container.inside(), shell("kill -9 2"));
    EXPECT_EQ(killer.exit_code, 0) << killer.err;
    EXPECT_TRUE(eventually([&] { return !container.broken().empty(); }));
    EXPECT_THAT(container.broken(), HasSubstr("killed"));
    auto late = container.inside().create(shell("true")).value();
    const auto started = late->start();
    ASSERT_FALSE(started);
    EXPECT_EQ(started.error().code, ErrorCode::wrong_state);
    EXPECT_THAT(started.error().message, HasSubstr("killed"));
    EXPECT_TRUE(container.main()->running());
    ASSERT_TRUE(other->write_stdin("\n", 10s));
    EXPECT_EQ(other->wait().value().exit_code, 5);
  });
}

TEST_P(InsideLife, ProcessHeldLongerThanTheSandboxKeepsNothing) {
  each([](supervise::Engine& engine, const std::string& parent) {
    const auto once = [&] {
      Request request = sleeper();
      request.cgroup_parent = parent;
      auto made = engine.create({.sandbox_id = "test", .request = request});
      ASSERT_TRUE(made) << made.error().message;
      auto running = (*made)->inside().create(shell("sleep 60")).value();
      auto ended = (*made)->inside().create(shell("true")).value();
      ASSERT_TRUE(running->start() && ended->start() && ended->wait());
      const auto main = (*made)->main();
      made->reset();
      EXPECT_TRUE(running->outcome());
      EXPECT_TRUE(main->outcome());
    };
    // From the third on there is a stock of groups, made ahead.
    for (int i = 0; i < 3; ++i) once();
    const Traces before = traces_at_rest();
    for (int i = 0; i < 5; ++i) once();
    EXPECT_EQ(traces_settled(before), before);
  });
}

TEST_P(InsideLife, EndsAtAnyMomentOfAStart) {
  each([](supervise::Engine& engine, const std::string& parent) {
    for (int i = 0; i < 20; ++i) {
      Request request = sleeper();
      request.cgroup_parent = parent;
      auto made = engine.create({.sandbox_id = "test", .request = request});
      ASSERT_TRUE(made) << made.error().message;
      std::atomic<int> begun = 0;
      std::thread starter([&] {
        for (;;) {
          auto process = (*made)->inside().create(shell("true")).value();
          ++begun;
          if (!process->start()) return;
        }
      });
      // By the end of main, or by that of the nursery.
      EXPECT_TRUE(eventually([&] { return begun > i; }));
      if (i % 2 == 0) {
        EXPECT_TRUE((*made)->main()->kill());
      } else {
        (void)run((*made)->inside(), shell("kill -9 2"));
      }
      starter.join();
      made->reset();
      EXPECT_EQ(traces().children, 1U) << "the spawner";
    }
  });
}

TEST_P(InsideLife, KilledSupervisorLeavesNothing) {
  each([&](supervise::Engine&, const std::string& parent) {
    ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    const std::string mark = any_mark();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t supervisor = ::fork();
    if (supervisor == 0) {
      auto engine = linux_backend::make_engine();
      Request request = sleeper();
      request.args = {"60", mark};
      request.cgroup_parent = parent;
      auto made = engine ? (*engine)->create({.sandbox_id = "test", .request = request})
                         : std::unexpected(engine.error());
      if (!made) ::_exit(1);
      std::vector<std::shared_ptr<Process>> all;
      for (int i = 0; i < 4; ++i) {
        all.push_back((*made)->inside().create(shell(daemon_marked(mark) + "sleep 60")).value());
        if (!all.back()->start()) ::_exit(1);
      }
      if (!eventually([&] { return processes_marked(mark).size() >= 5; })) ::_exit(1);
      (void)!::write(ready[1], "", 1);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::kill(supervisor, SIGKILL);
    EXPECT_TRUE(eventually([&] { return processes_marked(mark).empty(); }, 1s));
    ASSERT_EQ(::waitpid(supervisor, nullptr, 0), supervisor);
    // What it had comes to us. (So has the engine of this process a child.)
    EXPECT_TRUE(eventually([&] {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      return traces().children == 1;
    }));
    // The groups are left to the next supervisor. Where that is not a place of this test's own, any
    // other that starts now may be the one.
    const std::size_t left = groups_of(supervisor);
    const std::size_t swept = linux_backend::open_cgroup_parent(parent).value()->sweep();
    if (!parent.empty()) {
      EXPECT_GT(left, 0U);
      EXPECT_GT(swept, 0U);
    }
    EXPECT_TRUE(eventually([&] { return groups_of(supervisor) == 0; }));
  });
}

// --- guards: without them, what they are for happens ---

TEST(InsideGuards, ProgramWithoutItsFilterIsNotRun) {
  CORDON_NEEDS_SANDBOX(false);
  for (const char* const step : {"seccomp", "cgroup"}) {
    auto engine = linux_backend::make_engine({.left_out_inside = {step}}).value();
    const auto made = engine->create({.sandbox_id = "test", .request = sleeper()});
    ASSERT_FALSE(made) << step;
    EXPECT_EQ(made.error().stage, "verify") << made.error().message;
  }
}

TEST(InsideGuards, ChildForTheSupervisorIsRefusedByTheProgramsOwnFilter) {
  CORDON_NEEDS_SANDBOX(false);
  const auto attack = [](Manager& manager) {
    Request request{.program = CORDON_TEST_PROGRAMS_DIR "/attack",
                    .args = {"clone", std::to_string(CLONE_PARENT)}};
    request.cwd = CORDON_TEST_PROGRAMS_DIR;
    request.timeout = 20s;
    return run(manager, request).out;
  };
  EXPECT_THAT(attack(*support::InsideManager::make().value()), HasSubstr("stopped"));
  in_own_process([&] {
    // Never destroyed: nobody knows of that child, so its sandbox can only end with this process.
    Manager* const weak =
        support::InsideManager::make({.left_out_inside = {"seccomp"}, .verify = false})
            .value()
            .release();
    EXPECT_THAT(attack(*weak), HasSubstr("reached"));
  });
}

}  // namespace
}  // namespace cordon::linux_tests
