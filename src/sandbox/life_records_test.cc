// What is on record about a long-lived sandbox.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <regex>

#include "sandbox/test_life.h"

namespace cordon::sandbox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class LifeRecordsTest : public LifeTest {
 protected:
  [[nodiscard]] std::unique_ptr<Life> recorded(const std::string& program = "main") {
    return std::make_unique<Life>(std::make_unique<TestEngine>(manager_, hand_),
                                  Request{.program = program}, "work", folder_ / "state",
                                  audit::Settings{.directory = folder_ / "log"});
  }
  [[nodiscard]] std::string log() const {
    std::ifstream file(folder_ / "log" / "audit-00000001.jsonl");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // "start main", in order.
  [[nodiscard]] std::vector<std::string> operations() const {
    static const std::regex kPattern(R"re("operation":"([a-z]+)".*"program":"([^"]*)")re");
    std::vector<std::string> found;
    std::istringstream lines(log());
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (std::regex_search(line, match, kPattern))
        found.push_back(match.str(1) + " " + match.str(2));
    }
    return found;
  }
};

TEST_F(LifeRecordsTest, EveryProgramAndEveryChangeIsOnRecord) {
  manager_.add("tool", memory::Program().exit(4));
  auto life = recorded();
  ASSERT_TRUE(life->create());
  auto tool = life->execute({.program = "tool"});
  ASSERT_TRUE(tool);
  ASSERT_TRUE((*tool)->wait());
  ASSERT_TRUE(life->checkpoint(folder_ / "image", {}));
  ASSERT_TRUE(life->remove());
  EXPECT_THAT(operations(),
              ElementsAre("sandbox main", "start main", "sandbox tool", "start tool", "exit tool",
                          "sandbox main", "exit main", "sandbox main", "cleanup main"));
  EXPECT_THAT(log(), HasSubstr("sandbox work, container " + life->container_id() + ": create"));
  EXPECT_THAT(log(), HasSubstr("sandbox work, container " + life->container_id() + ": execute"));
  EXPECT_THAT(log(), HasSubstr("sandbox work: checkpoint to " + (folder_ / "image").string()));
  EXPECT_THAT(log(), HasSubstr("sandbox work: remove"));
  EXPECT_THAT(log(), HasSubstr("nothing of the sandbox is left"));
}

TEST_F(LifeRecordsTest, EndsAreOnRecordWhenTheSandboxGoes) {
  {
    auto life = recorded();
    ASSERT_TRUE(life->create());
    ASSERT_TRUE(life->execute({.program = "other"}));
  }
  EXPECT_THAT(operations(), ElementsAre("sandbox main", "start main", "sandbox other",
                                        "start other", "exit main", "exit other", "cleanup main"));
}

TEST_F(LifeRecordsTest, WhatFailedIsOnRecord) {
  auto life = recorded("no such program");
  EXPECT_FALSE(life->create());
  EXPECT_THAT(log(), HasSubstr("failed_to_start"));
  auto second = recorded();
  ASSERT_TRUE(second->create());
  EXPECT_FALSE(second->execute({.program = "nowhere"}));
  std::filesystem::create_directories(folder_ / "full" / "up");
  EXPECT_FALSE(second->checkpoint(folder_ / "full", {}));
  EXPECT_THAT(log(), HasSubstr("the checkpoint failed"));
}

TEST_F(LifeRecordsTest, WithoutARecordNothingIsDone) {
  auto life = recorded();
  ASSERT_TRUE(life->create());
  // The log is no directory any more.
  std::filesystem::rename(folder_ / "log", folder_ / "elsewhere");
  std::ofstream(folder_ / "log") << "in the way";
  EXPECT_FALSE(life->execute({.program = "other"}));
  EXPECT_EQ(manager_.live_programs(), 1U);
  EXPECT_EQ(life->state(), SandboxState::running);

  auto second = recorded();
  EXPECT_FALSE(second->create());
  EXPECT_EQ(second->state(), SandboxState::failed);
  EXPECT_EQ(manager_.live_programs(), 1U);
  EXPECT_TRUE(life->stop(0s));  // but nobody is kept alive by it
  EXPECT_TRUE(life->remove());
}

}  // namespace
}  // namespace cordon::sandbox
