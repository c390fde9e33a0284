// What happens in a long-lived sandbox, on scripted programs.
#include "sandbox/life.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "sandbox/test_life.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

using LifeOf = LifeTest;

TEST_F(LifeOf, TheEndOfMainEndsEverythingInside) {
  manager_.add("main", memory::Program().sleep(2s).exit(3));
  manager_.add("stubborn", memory::Program().ignore(SIGTERM).hang());
  auto life = make();
  ASSERT_TRUE(life->create());
  auto other = life->execute({.program = "stubborn"});
  ASSERT_TRUE(other);
  // Nobody asks for the main program: the other one's end is what is waited for.
  const auto outcome = (*other)->wait_for(10s);
  ASSERT_TRUE(outcome) << outcome.error().message;
  EXPECT_EQ(outcome->verdict, Verdict::cancelled);
  EXPECT_EQ(outcome->wall, 2s);
  EXPECT_EQ(life->state(), SandboxState::stopped);
  EXPECT_EQ(life->main()->exit_code(), 3);
  EXPECT_EQ(life->failure(), "");
  const auto refused = life->execute({.program = "other"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("its main program exited with 3"));
  EXPECT_THAT(life->processes(), ElementsAre(life->main(), *other));
}

TEST_F(LifeOf, WhatIsStartedAfterTheEndOfMainDoesNotRun) {
  manager_.add("main", memory::Program().sleep(1s));
  auto life = make();
  ASSERT_TRUE(life->create());
  auto late = life->make_inside({.program = "other"});
  ASSERT_TRUE(late);
  ASSERT_TRUE(life->main()->wait());
  EXPECT_TRUE((*late)->start());
  EXPECT_EQ((*late)->wait()->verdict, Verdict::cancelled);
  EXPECT_EQ(manager_.live_programs(), 0U);
}

TEST_F(LifeOf, AnExecutedProgramCanBeCancelledByItsOwnToken) {
  auto life = make();
  ASSERT_TRUE(life->create());
  std::stop_source stop;
  auto other = life->execute({.program = "other", .cancel = stop.get_token()});
  ASSERT_TRUE(other);
  stop.request_stop();
  EXPECT_EQ((*other)->wait()->verdict, Verdict::cancelled);
  EXPECT_EQ(life->state(), SandboxState::running);
}

TEST_F(LifeOf, TheMainProgramHasNoTimeoutUnlessAskedFor) {
  auto life = make();
  ASSERT_TRUE(life->create());
  manager_.advance(24h);
  EXPECT_EQ(life->state(), SandboxState::running);
}

TEST_F(LifeOf, ABrokenEngineIsAFailureWithItsReason) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->break_engine("runsc was killed");
  EXPECT_EQ(life->failure(), "runsc was killed");
  EXPECT_EQ(life->state(), SandboxState::failed);
  const auto refused = life->execute({.program = "other"});
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("is failed (runsc was killed)"));
  EXPECT_FALSE(life->stop(1s));
  EXPECT_TRUE(life->remove());
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(LifeOf, AnEngineThatBreaksTakesPrecedenceOverTheEndOfMain) {
  auto life = make();
  ASSERT_TRUE(life->create());
  hand_->break_engine("gone");
  ASSERT_TRUE(life->main()->kill());
  EXPECT_EQ(life->state(), SandboxState::failed);
}

TEST_F(LifeOf, AnEngineThatBreaksDuringStopIsTold) {
  manager_.add("main", memory::Program()
                           .on_signal(SIGTERM, memory::Program()
                                                   .step([this](memory::Self&) {
                                                     hand_->break_engine("runsc was killed");
                                                   })
                                                   .exit(0))
                           .hang());
  auto life = make();
  ASSERT_TRUE(life->create());
  manager_.advance(0s);
  const auto stopped = life->stop(1s);
  ASSERT_FALSE(stopped);
  EXPECT_THAT(stopped.error().message, HasSubstr("while it was stopped: runsc was killed"));
  EXPECT_EQ(life->state(), SandboxState::failed);
}

TEST_F(LifeOf, OnlyProcessesThatRunCanBeConnectedTo) {
  auto life = make();
  ASSERT_TRUE(life->create());
  auto other = life->execute({.program = "other"});
  ASSERT_TRUE(other);
  EXPECT_EQ(*life->connect((*other)->id()), *other);
  EXPECT_EQ(*life->connect(life->main()->id()), life->main());
  ASSERT_TRUE((*other)->kill());
  const auto gone = life->connect((*other)->id());
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::not_found);
  EXPECT_FALSE(life->connect(4711));
}

// Main and others are of two managers, as on the engines of the OS.
class SplitContainer final : public supervise::Container {
 public:
  SplitContainer(std::shared_ptr<Process> main, Manager& inside)
      : main_(std::move(main)), inside_(inside) {}
  [[nodiscard]] std::shared_ptr<Process> main() override { return main_; }
  [[nodiscard]] Manager& inside() override { return inside_; }
  [[nodiscard]] Result<void> checkpoint(const supervise::CheckpointAsk& /*ask*/) override {
    return {};
  }
  [[nodiscard]] std::string broken() const override { return {}; }

 private:
  std::shared_ptr<Process> main_;
  Manager& inside_;
};

class SplitEngine final : public supervise::Engine {
 public:
  SplitEngine(Manager& mains, Manager& inside) : mains_(mains), inside_(inside) {}
  [[nodiscard]] std::string_view name() const override { return "split"; }
  [[nodiscard]] std::string no_checkpoint() const override { return "never"; }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> create(
      supervise::ContainerSpec spec) override {
    auto main = mains_.create(spec.request);
    EXPECT_TRUE(main && (*main)->start());
    return std::make_unique<SplitContainer>(*main, inside_);
  }
  [[nodiscard]] Result<std::unique_ptr<supervise::Container>> restore(
      supervise::ContainerSpec spec, const std::filesystem::path& /*image*/) override {
    return create(std::move(spec));
  }

 private:
  Manager& mains_;
  Manager& inside_;
};

TEST_F(LifeOf, NobodyInsideHasTheIdOfMain) {
  memory::Manager mains;
  mains.add("main", memory::Program().hang());
  Life life(std::make_unique<SplitEngine>(mains, manager_), {.program = "main"}, "work", {});
  ASSERT_TRUE(life.create());
  auto first = life.execute({.program = "other"});
  auto second = life.execute({.program = "other"});
  ASSERT_TRUE(first && second);
  EXPECT_NE((*first)->id(), life.main()->id());
  EXPECT_EQ(*life.connect(life.main()->id()), life.main());
  EXPECT_EQ(*life.connect((*first)->id()), *first);
  EXPECT_EQ(*life.connect((*second)->id()), *second);
  EXPECT_THAT(life.processes(), ElementsAre(life.main(), *first, *second));
}

TEST_F(LifeOf, ProcessesOfOthersAreNotInside) {
  auto life = make();
  ASSERT_TRUE(life->create());
  auto elsewhere = manager_.create({.program = "other"});
  ASSERT_TRUE((*elsewhere)->start());
  EXPECT_FALSE(life->connect((*elsewhere)->id()));
  EXPECT_THAT(life->processes(), ElementsAre(life->main()));
  EXPECT_TRUE(life->remove());
  EXPECT_TRUE((*elsewhere)->running());
}

TEST_F(LifeOf, NobodyInsideHasMoreThanTheSandbox) {
  Request request{.program = "main"};
  request.limits.memory_bytes = 1000;
  Life life(make_manager_engine(manager_), request, "work", {});
  ASSERT_TRUE(life.create());
  Request more{.program = "other"};
  more.limits.memory_bytes = 1001;
  const auto refused = life.execute(more);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_permitted);
  EXPECT_THAT(refused.error().message, HasSubstr("limits.memory_bytes"));
  more.limits.memory_bytes = 1000;
  more.network = Network::loopback;
  EXPECT_THAT(life.execute(more).error().message, HasSubstr("network"));
  more.network = Network::none;
  more.limits.memory_bytes = {};
  const auto same = life.execute(more);
  ASSERT_TRUE(same);
  EXPECT_EQ((*same)->limits().memory_bytes, 1000U);
  EXPECT_EQ(life.state(), SandboxState::running);
}

TEST_F(LifeOf, AProgramThatCannotBeStartedInsideLeavesItRunning) {
  auto life = make();
  ASSERT_TRUE(life->create());
  const auto missing = life->execute({.program = "no such program"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
  EXPECT_EQ(life->state(), SandboxState::running);
}

TEST_F(LifeOf, AnImageIsRestoredByOthersAnyNumberOfTimes) {
  manager_.add_sequence("main", {memory::Program().out("1").hang(),  //
                                 memory::Program().out("2").hang()});
  auto first = make();
  ASSERT_TRUE(first->create());
  std::uint64_t told = 0;
  ASSERT_TRUE(first->checkpoint(folder_ / "image",
                                {.progress = [&](std::uint64_t written) { told = written; }}));
  EXPECT_GT(told, 0U);
  EXPECT_EQ(first->state(), SandboxState::checkpointed);
  EXPECT_EQ(manager_.live_programs(), 0U);
  ASSERT_NE(first->main(), nullptr);  // for asking
  const auto twice = first->restore(folder_ / "image");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::wrong_state);

  auto second = make();
  ASSERT_TRUE(second->restore(folder_ / "image"));
  EXPECT_NE(second->container_id(), first->container_id());
  EXPECT_EQ(second->main()->events().next()->data.view(), "2");
  EXPECT_FALSE(second->restore(folder_ / "image"));
  ASSERT_TRUE(second->remove());
  EXPECT_TRUE(std::filesystem::exists(folder_ / "image"));
  EXPECT_TRUE(make()->restore(folder_ / "image"));
}

TEST_F(LifeOf, AnImageIsOfOneSandboxAndOneRequest) {
  auto first = make();
  ASSERT_TRUE(first->create());
  ASSERT_TRUE(first->checkpoint(folder_ / "image", {.leave_running = true}));
  EXPECT_EQ(first->state(), SandboxState::running);

  Life other_id(make_manager_engine(manager_), first->request(), "play", {});
  const auto not_its_own = other_id.restore(folder_ / "image");
  ASSERT_FALSE(not_its_own);
  EXPECT_EQ(not_its_own.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(not_its_own.error().message, HasSubstr("another sandbox than play"));
  EXPECT_EQ(other_id.state(), SandboxState::failed);

  Request request = first->request();
  request.limits.processes = 7;
  Life other_request(make_manager_engine(manager_), request, "work", {});
  EXPECT_THAT(other_request.restore(folder_ / "image").error().message,
              HasSubstr("another request"));
  std::filesystem::create_directory(folder_ / "empty");
  Life none(make_manager_engine(manager_), first->request(), "work", {});
  EXPECT_THAT(none.restore(folder_ / "empty").error().message, HasSubstr("not an image"));
}

TEST_F(LifeOf, EachLifeHasAPrivateDirectoryThatGoesWithIt) {
  auto life = make();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "state"));
  ASSERT_TRUE(life->create());
  const auto directory = folder_ / "state" / life->container_id();
  struct stat info{};
  ASSERT_EQ(::stat(directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0700U);
  std::filesystem::create_directories(directory / "a" / "b");
  std::ofstream(directory / "a" / "b" / "file") << "kept";
  std::ofstream(folder_ / "state" / "of somebody else") << "x";
  ASSERT_TRUE(life->remove());
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "state" / "of somebody else"));
}

TEST_F(LifeOf, ItsEndIsTheEndOfWhatWasKept) {
  {
    auto life = make();
    ASSERT_TRUE(life->create());
    ASSERT_TRUE(life->execute({.program = "other"}));
    EXPECT_EQ(manager_.live_programs(), 2U);
  }
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(LifeOf, AStateDirectoryThatOthersMayWriteToIsRefused) {
  std::filesystem::create_directory(folder_ / "state");
  ASSERT_EQ(::chmod((folder_ / "state").c_str(), 0777), 0);
  auto life = make();
  const auto created = life->create();
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, ErrorCode::not_permitted);
  EXPECT_EQ(life->state(), SandboxState::failed);
  EXPECT_EQ(manager_.live_programs(), 0U);
}

TEST_F(LifeOf, AnIdThatIsNoneFailsToBeCreated) {
  Life life(make_manager_engine(manager_), {.program = "main"}, "../up", {});
  EXPECT_FALSE(life.create());
  EXPECT_EQ(life.state(), SandboxState::failed);
}

}  // namespace
}  // namespace cordon::sandbox
