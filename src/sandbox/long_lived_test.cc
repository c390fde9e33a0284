// The public face of long-lived sandboxes, on scripted programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "cordon/memory.h"
#include "cordon/sandbox.h"
#include "sandbox/inside_manager.h"
#include "sandbox/test_life.h"

namespace cordon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(LongLived, MainAndOthersLiveBesideEachOtherUntilTheEnd) {
  memory::Manager manager;
  manager.add("shell", memory::Program().echo());
  manager.add("tool", memory::Program().out("done").exit(4));
  Sandbox sandbox(manager, {.program = "shell", .in = Input::pipe()}, "work");
  EXPECT_EQ(sandbox.sandbox_id(), "work");
  EXPECT_EQ(sandbox.container_id(), "");
  EXPECT_EQ(sandbox.main(), nullptr);
  EXPECT_TRUE(sandbox.processes().empty());

  ASSERT_TRUE(sandbox.create());
  EXPECT_EQ(sandbox.state(), SandboxState::running);
  EXPECT_NE(sandbox.container_id(), "");
  ASSERT_TRUE(sandbox.write_stdin("hello"));
  auto tool = sandbox.execute(Request{.program = "tool"});
  ASSERT_TRUE(tool);
  EXPECT_EQ((*tool)->wait()->exit_code, 4);
  EXPECT_EQ(sandbox.main()->events().next()->data.view(), "hello");
  EXPECT_EQ(sandbox.processes().size(), 2U);
  EXPECT_TRUE(sandbox.stop(1s));
  EXPECT_EQ(sandbox.state(), SandboxState::stopped);
  EXPECT_TRUE(sandbox.remove());
  EXPECT_TRUE(sandbox.remove());
}

TEST(LongLived, OneShotRunsGoInsideOnceItWasCreated) {
  memory::Manager manager;
  manager.add("main", memory::Program().out("ran").sleep(1h));
  manager.add("tool", memory::Program().out("done"));
  Sandbox sandbox(manager, {.program = "main", .timeout = 2h}, "work");
  EXPECT_EQ(sandbox.run().out, "ran");  // not created: afresh
  EXPECT_EQ(sandbox.state(), SandboxState::initialized);
  ASSERT_TRUE(sandbox.create());
  EXPECT_EQ(sandbox.execute("tool").out, "done");
  const Outcome again = sandbox.run();
  EXPECT_EQ(again.verdict, Verdict::failed_to_start);
  EXPECT_THAT(again.error->message, HasSubstr("sandbox work is running"));
  ASSERT_TRUE(sandbox.stop(0s));
  const Outcome late = sandbox.execute("tool");
  EXPECT_EQ(late.verdict, Verdict::failed_to_start);
  EXPECT_THAT(late.error->message, HasSubstr("sandbox work is stopped"));
}

TEST(LongLived, ARunInsideHasTheVariablesButNotTheStreamsOfMain) {
  memory::Manager manager;
  manager.add("main", memory::Program().drain_stdin().hang());
  manager.add("tool", memory::Program().drain_stdin().step(
                          [](memory::Self& self) { self.out(self.request().env.at(0).value); }));
  Sandbox sandbox(
      manager,
      {.program = "main", .env = {{"COLOR", "blue"}}, .in = Input::pipe(), .timeout = kNoTimeout},
      "work");
  ASSERT_TRUE(sandbox.create());
  EXPECT_EQ(sandbox.execute("tool").out, "blue");  // does not wait for input
}

TEST(LongLived, OneWithoutAnIdCannotBeCreated) {
  memory::Manager manager;
  manager.add("main", memory::Program().hang());
  Sandbox sandbox(manager, {.program = "main"});
  const auto created = sandbox.create();
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::invalid_argument);
}

// Says that it isolates each process by itself.
class OtherManager final : public Manager {
 public:
  explicit OtherManager(std::string backend) : backend_(std::move(backend)) {}
  Result<std::shared_ptr<Process>> create(Request /*request*/) override {
    ADD_FAILURE() << "a process was made";
    return std::unexpected(Error{});
  }
  Result<Plan> plan(const Request& request) const override { return real_.plan(request); }
  Result<std::shared_ptr<Process>> get(ProcessId id) const override { return real_.get(id); }
  std::vector<std::shared_ptr<Process>> list() const override { return {}; }
  Result<void> set_default_limits(const Limits& /*limits*/) override { return {}; }
  Limits default_limits() const override { return {}; }
  Capabilities capabilities() const override {
    return {.backend = backend_, .enforcement = {}, .gaps = {}};
  }
  Clock& clock() override { return real_.clock(); }

 private:
  std::string backend_;
  memory::Manager real_;
};

TEST(LongLived, AManagerThatIsolatesEachProcessByItselfIsRefused) {
  for (const char* const backend : {"linux", "posix", "gvisor", "unheard-of"}) {
    OtherManager manager(backend);
    Sandbox sandbox(manager, {.program = "main"}, "work");
    const auto created = sandbox.create();
    ASSERT_FALSE(created);
    EXPECT_EQ(created.error().code, ErrorCode::unsupported);
    EXPECT_THAT(created.error().message, HasSubstr("each process would be a sandbox of its own"));
    EXPECT_EQ(sandbox.state(), SandboxState::failed);
  }
}

TEST(LongLived, BackendsAreKnownByName) {
  const auto unknown = Sandbox::make({.program = "true"}, {.id = "work", .backend = "gvisr"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(
      unknown.error().message,
      HasSubstr("no backend gvisr of sandboxes: use linux or gvisor; did you mean gvisor?"));
  const auto bad_id = Sandbox::make({.program = "true"}, {.id = "Work"});
  ASSERT_FALSE(bad_id);
  EXPECT_THAT(bad_id.error().message, HasSubstr("use \"work\""));
  EXPECT_FALSE(Sandbox::make({}, {.id = "work"}));
}

TEST(LongLived, ItIsAManagerOfWhatIsInside) {
  memory::Manager outside;
  outside.add("main", memory::Program().hang());
  outside.add("tool", memory::Program().out("done"));
  const auto hand = std::make_shared<sandbox::Hand>();
  sandbox::Life life(std::make_unique<sandbox::TestEngine>(outside, hand), {.program = "main"},
                     "work", {});
  sandbox::InsideManager inside(life);
  EXPECT_EQ(run(inside, {.program = "tool"}).verdict, Verdict::failed_to_start);
  EXPECT_EQ(inside.capabilities().backend, "test");
  ASSERT_TRUE(life.create());
  EXPECT_EQ(run(inside, {.program = "tool"}).out, "done");
  EXPECT_EQ(inside.capabilities().backend, "memory");
  EXPECT_TRUE(inside.plan({.program = "tool"}));
  EXPECT_EQ(inside.list().size(), 1U);
  EXPECT_TRUE(inside.get(life.main()->id()));
  EXPECT_FALSE(inside.get(4711));
  Limits limits;
  limits.processes = 3;
  EXPECT_TRUE(inside.set_default_limits(limits));
  EXPECT_EQ(inside.default_limits().processes, 3U);
  ASSERT_TRUE(life.remove());
  EXPECT_FALSE(inside.plan({.program = "tool"}));
  EXPECT_FALSE(inside.set_default_limits({}));
}

TEST(LongLived, CanBeMovedWhileItRuns) {
  memory::Manager manager;
  manager.add("main", memory::Program().hang());
  Sandbox first(manager, {.program = "main"}, "work");
  ASSERT_TRUE(first.create());
  Sandbox second = std::move(first);
  EXPECT_EQ(second.state(), SandboxState::running);
  Sandbox third(manager, {.program = "main"}, "other");
  ASSERT_TRUE(third.create());
  third = std::move(second);  // ends the one that was there
  EXPECT_EQ(third.sandbox_id(), "work");
  EXPECT_EQ(manager.live_programs(), 1U);
}

}  // namespace
}  // namespace cordon
