// The table of transitions on real engines: what src/sandbox tests on scripted programs, with
// programs that run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cordon/sandbox.h"
#include "sandbox/transitions.h"
#include "support/must_work.h"

namespace cordon {
namespace {

using namespace std::chrono_literals;
using sandbox::Operation;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Duration kSoon = 20s;

Request shell(std::string script) {
  return {.program = "/bin/sh", .args = {"-c", std::move(script)}};
}

class Engines : public testing::TestWithParam<const char*> {
 protected:
  Engines() {
    char name[] = "/tmp/cordon-engines-XXXXXX";
    if (const char* const made = ::mkdtemp(name)) folder_ = made;
  }
  ~Engines() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override {
    if (auto possible = make(shell("true")); !possible) {
      CORDON_SKIP_WITHOUT(GetParam(), possible.error().message);
    }
  }

  [[nodiscard]] Result<Sandbox> make(Request request) const {
    request.cwd = folder_ / "seen";
    std::filesystem::create_directory(request.cwd);
    return Sandbox::make(std::move(request),
                         {.id = "work", .backend = GetParam(), .state = folder_ / "state"});
  }
  // One that waits for input, created.
  [[nodiscard]] Sandbox created(Request request) const {
    request.in = Input::pipe();
    Sandbox sandbox = *make(std::move(request));
    const auto made = sandbox.create();
    if (!made) throw std::runtime_error(made.error().message);  // fails the test
    return sandbox;
  }

  std::filesystem::path folder_;
};

std::string output_of(Process& process) {
  std::string text;
  for (const Event& event : process.events()) {
    if (event.kind == Event::Kind::out) text += event.data.view();
  }
  return text;
}

TEST_P(Engines, MainAndOthersAreInOnePlace) {
  Sandbox sandbox = created(shell("echo from main >/tmp/note; echo ready; cat"));
  ASSERT_EQ(sandbox.main()->events().next()->data.view(), "ready\n");
  auto other = sandbox.execute(shell("cat /tmp/note; exit 4"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(output_of(**other), "from main\n");
  EXPECT_EQ((*other)->wait_for(kSoon)->exit_code, 4);
  EXPECT_NE((*other)->id(), sandbox.main()->id());
  EXPECT_THAT(sandbox.processes(), ElementsAre(sandbox.main(), *other));
  ASSERT_TRUE(sandbox.write_stdin("again\n"));
  EXPECT_EQ(sandbox.main()->events().next()->data.view(), "again\n");
  EXPECT_EQ(sandbox.execute("/bin/cat", {"/tmp/note"}).out, "from main\n");
  EXPECT_EQ(sandbox.state(), SandboxState::running);
}

TEST_P(Engines, EndOfMainIsTheEndOfEverything) {
  Sandbox sandbox = created(shell("read line; exit 3"));
  auto other = sandbox.execute(shell("trap '' TERM; while :; do sleep 1; done"));
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(*sandbox.connect((*other)->id()), *other);
  ASSERT_TRUE(sandbox.write_stdin("\n"));
  ASSERT_TRUE(sandbox.main()->wait_for(kSoon));
  EXPECT_EQ(sandbox.state(), SandboxState::stopped) << sandbox.failure();
  EXPECT_EQ(sandbox.main()->exit_code(), 3);
  EXPECT_TRUE((*other)->wait_for(kSoon));
  const auto refused = sandbox.execute(shell("true"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("its main program exited with 3"));
}

TEST_P(Engines, WhoeverLooksNeverTakesTheEndOfMainForAFailure) {
  for (int round = 0; round < 10; ++round) {
    Sandbox sandbox = created(shell("exit 0"));
    const auto deadline = std::chrono::steady_clock::now() + kSoon;
    while (sandbox.state() == SandboxState::running) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
    ASSERT_EQ(sandbox.state(), SandboxState::stopped) << sandbox.failure();
    ASSERT_EQ(sandbox.main()->exit_code(), 0);
  }
}

TEST_P(Engines, StopAndRemoveLeaveNothing) {
  Sandbox sandbox = created(shell("trap '' TERM; echo ready; while :; do sleep 1; done"));
  ASSERT_EQ(sandbox.main()->events().next()->data.view(), "ready\n");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "state" / sandbox.container_id()));
  EXPECT_TRUE(sandbox.stop(100ms));
  EXPECT_EQ(sandbox.state(), SandboxState::stopped) << sandbox.failure();
  EXPECT_EQ(sandbox.main()->outcome()->verdict, Verdict::cancelled);
  EXPECT_TRUE(sandbox.stop(0s));
  EXPECT_TRUE(sandbox.remove());
  EXPECT_TRUE(sandbox.remove());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
}

TEST_P(Engines, RemoveEndsWhatRuns) {
  Sandbox sandbox = created(shell("cat"));
  auto other = sandbox.execute(shell("sleep 1000"));
  ASSERT_TRUE(other) << other.error().message;
  const auto main = sandbox.main();
  EXPECT_TRUE(sandbox.remove());
  EXPECT_TRUE(main->wait_for(kSoon));
  EXPECT_TRUE((*other)->wait_for(kSoon));
  EXPECT_EQ(sandbox.state(), SandboxState::stopped);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
}

TEST_P(Engines, AProgramThatIsNotThereFails) {
  auto sandbox = make({.program = "/no/such/program"});
  ASSERT_TRUE(sandbox);
  EXPECT_FALSE(sandbox->create());
  EXPECT_EQ(sandbox->state(), SandboxState::failed);
  EXPECT_NE(sandbox->failure(), "");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
}

TEST_P(Engines, NobodyInsideGetsMoreThanTheSandbox) {
  Sandbox sandbox = created(shell("cat"));
  Request more = shell("true");
  more.grants = {Grant::read("/root")};
  const auto refused = sandbox.execute(more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
  EXPECT_EQ(sandbox.state(), SandboxState::running);
}

TEST_P(Engines, ManyProgramsAtOnceEachWithItsOwnOutput) {
  constexpr int kPrograms = 20;
  Sandbox sandbox = created(shell("cat"));
  std::vector<std::jthread> threads;
  for (int i = 0; i < kPrograms; ++i) {
    threads.emplace_back([&sandbox, i] {
      auto process = sandbox.execute(shell("echo " + std::to_string(i) + "; exit 7"));
      ASSERT_TRUE(process) << process.error().message;
      EXPECT_EQ(output_of(**process), std::to_string(i) + "\n");
      EXPECT_EQ((*process)->wait_for(kSoon)->exit_code, 7);
    });
  }
}

TEST_P(Engines, WhatTheTableRefusesIsRefused) {
  for (const SandboxState state :
       {SandboxState::initialized, SandboxState::running, SandboxState::stopped}) {
    Request request = shell("cat");
    request.in = Input::pipe();
    Sandbox sandbox = *make(request);
    if (state != SandboxState::initialized) {
      ASSERT_TRUE(sandbox.create());
    }
    if (state == SandboxState::stopped) {
      ASSERT_TRUE(sandbox.stop(0s));
    }
    const auto refuses = [&](Operation operation, const auto& result) {
      if (effect(operation, state).kind != sandbox::Effect::Kind::refused) return;
      ASSERT_FALSE(result) << to_string(operation) << " when " << to_string(state);
      EXPECT_EQ(result.error().code, ErrorCode::wrong_state) << result.error().message;
      EXPECT_EQ(sandbox.state(), state);
    };
    refuses(Operation::execute, state == SandboxState::running ? Result<std::shared_ptr<Process>>()
                                                               : sandbox.execute(shell("true")));
    if (state != SandboxState::initialized) {
      refuses(Operation::create, sandbox.create());
      refuses(Operation::restore, sandbox.restore(folder_));
    }
    if (state != SandboxState::running) {
      refuses(Operation::connect, sandbox.connect(1));
      refuses(Operation::write_stdin, sandbox.write_stdin("x"));
      refuses(Operation::checkpoint, sandbox.checkpoint(folder_ / "image"));
      refuses(Operation::stop, sandbox.stop(0s));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisOs, Engines, testing::Values("linux", "gvisor"),
                         [](const auto& engine) { return std::string(engine.param); });

}  // namespace
}  // namespace cordon
