#include "backend/linux/script_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace cordon::linux_backend {
namespace {

using spawner::kArena;
using spawner::Op;
using spawner::Role;
using spawner::Script;
using spawner::Step;

template <typename T>
T at(const std::vector<char>& message, std::uint64_t address) {
  T value;
  std::memcpy(&value, message.data() + (address - kArena), sizeof value);
  return value;
}

Step step_of(const std::vector<char>& message, Role role, std::uint64_t index) {
  const auto script = at<Script>(message, kArena);
  const auto& section = script.sections[static_cast<int>(role)];
  EXPECT_LT(index, section.count);
  return at<Step>(message, section.steps + index * sizeof(Step));
}

TEST(ScriptBuilder, AddressesAreThoseOfTheArena) {
  ScriptBuilder script;
  const std::uint64_t text = script.text("hello");
  script.call(1, {7, text});
  const auto message = script.finish();
  EXPECT_EQ(at<Script>(message, kArena).size, message.size());
  const Step step = step_of(message, Role::setup, 0);
  EXPECT_EQ(step.number, 1);
  EXPECT_EQ(step.args[0], 7U);
  EXPECT_STREQ(message.data() + (step.args[1] - kArena), "hello");
}

TEST(ScriptBuilder, ArraysOfTextsEndWithNull) {
  ScriptBuilder script;
  const std::uint64_t all = script.texts({"a", "bc"});
  const auto message = script.finish();
  EXPECT_STREQ(message.data() + (at<std::uint64_t>(message, all) - kArena), "a");
  EXPECT_STREQ(message.data() + (at<std::uint64_t>(message, all + 8) - kArena), "bc");
  EXPECT_EQ(at<std::uint64_t>(message, all + 16), 0U);
}

TEST(ScriptBuilder, ResultsAreHandedOnByRegister) {
  ScriptBuilder script;
  const Register opened = script.call_into(2, {});
  script.call(3, {1, opened});
  const auto message = script.finish();
  const Step first = step_of(message, Role::setup, 0);
  const Step second = step_of(message, Role::setup, 1);
  EXPECT_NE(first.into, 0);
  EXPECT_EQ(second.from_register, 0b10);
  EXPECT_EQ(second.args[1], first.into);
}

TEST(ScriptBuilder, ClosedRegistersAreUsedAgain) {
  ScriptBuilder script;
  for (int i = 0; i < 10 * spawner::kRegisters; ++i) script.close(script.call_into(2, {}));
  EXPECT_FALSE(script.finish().empty());
}

TEST(ScriptBuilder, TooManyResultsAtOnceAreRefused) {
  ScriptBuilder script;
  for (int i = 0; i < spawner::kRegisters; ++i) (void)script.call_into(2, {});
  EXPECT_TRUE(script.finish().empty());
}

TEST(ScriptBuilder, TooLargeScriptsAreRefused) {
  ScriptBuilder script;
  (void)script.text(std::string(spawner::kArenaSize, 'x'));
  EXPECT_TRUE(script.finish().empty());
}

TEST(ScriptBuilder, DescriptorsAreNumberedAsTheSpawnerReceivesThem) {
  ScriptBuilder script;
  EXPECT_EQ(script.send_fd(90), spawner::kFirstFd);
  EXPECT_EQ(script.send_fd(80), spawner::kFirstFd + 1);
  EXPECT_THAT(script.fds(), testing::ElementsAre(90, 80));
}

TEST(ScriptBuilder, ExplainsEachStep) {
  ScriptBuilder script;
  script.about("mount", "/usr");
  script.call(1, {});
  script.begin(Role::program);
  script.about("seccomp");
  script.call(2, {});
  script.call(3, {});
  EXPECT_EQ(script.explain(Role::setup, 0).argument, "/usr");
  EXPECT_EQ(script.explain(Role::program, 1).name, "seccomp");
  EXPECT_EQ(script.explain(Role::init, 5).name, "set-up");
}

TEST(ScriptBuilder, LeavesOutWhatATestAsksFor) {
  ScriptBuilder script;
  script.leave_out({"landlock"});
  script.about("landlock");
  script.op(Op::exit);
  script.about("seccomp");
  script.call(9, {});
  const auto message = script.finish();
  EXPECT_EQ(at<Script>(message, kArena).sections[0].count, 1U);
  EXPECT_EQ(step_of(message, Role::setup, 0).number, 9);
}

}  // namespace
}  // namespace cordon::linux_backend
