// Each step of the set-up fails in turn: the program must not run, and nothing may be left.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <optional>

#include "linux/harness.h"

namespace cordon::linux_tests {
namespace {

using namespace std::chrono_literals;
using linux_backend::ScriptBuilder;
using linux_backend::spawner::Op;
using linux_backend::spawner::Role;
using testing::HasSubstr;
using testing::Not;

struct FailedStep {
  ScriptBuilder::Kind kind;  // of the script that it belongs to
  Role role;
  std::size_t index;
};

// Steps that no kernel can make fail: they end the process, or wait, or come after exec.
bool can_fail(const linux_backend::spawner::Step& step) {
  return step.op != Op::exit && step.op != Op::sleep && step.op != Op::give_up;
}

std::vector<FailedStep> all_steps(const ScriptBuilder& script) {
  std::vector<FailedStep> all;
  for (const Role role : {Role::setup, Role::init, Role::program}) {
    bool ready = false;
    std::size_t index = 0;
    for (const auto& step : script.steps(role)) {
      // What init does once it is ready is to close a descriptor, and to sleep.
      if (can_fail(step) && !(role == Role::init && ready))
        all.push_back({script.kind(), role, index});
      if (step.op == Op::ready) ready = true;
      ++index;
    }
  }
  return all;
}

// Whose set-up: of root with all its steps, of root as it is when much was made ahead, of another.
// And of a run that is explained, whose program hands over a listener.
enum class Whose : std::uint8_t { whole, made_ahead, ordinary, explained };

class EachStep : public testing::TestWithParam<Whose> {
 protected:
  void SetUp() override { CORDON_NEEDS_SANDBOX(GetParam() == Whose::ordinary); }
  static uid_t user() { return GetParam() == Whose::ordinary ? kOrdinaryUser : ::geteuid(); }
};

enum class Fault : std::uint8_t { error, crash };

void fail_each_step(Whose whose, Fault fault) {
  const rlimit no_core{0, 0};
  ASSERT_EQ(::setrlimit(RLIMIT_CORE, &no_core), 0);
  const Folder folder;
  std::optional<FailedStep> failing;
  std::vector<FailedStep> steps;
  ScriptBuilder::Explanation explanation;
  Op op = Op::call;
  const auto hook = [&](ScriptBuilder& script) {
    const bool letter = script.kind() == ScriptBuilder::Kind::letter;
    if (!failing) {
      if (!letter) steps.clear();
      std::ranges::move(all_steps(script), std::back_inserter(steps));
      return;
    }
    if (failing->kind != script.kind()) return;
    op = Op::exit;
    // What is made ahead may be out of stock, or in: then the script has other steps.
    if (failing->index >= script.steps(failing->role).size()) return;
    op = script.steps(failing->role).at(failing->index).op;
    // Dying once it has its letter is the program's death, which is no failure of the set-up.
    if (fault == Fault::crash && letter) op = Op::exit;
    explanation = script.explain(failing->role, static_cast<std::uint32_t>(failing->index));
    if (!can_fail(script.steps(failing->role)[failing->index])) op = Op::exit;
    if (op == Op::exit) return;
    if (fault == Fault::crash) {
      script.crash_step(failing->role, failing->index);
    } else {
      script.fail_step(failing->role, failing->index);
    }
  };
  const Traces empty = traces();
  auto manager = make_manager({.script = hook, .nothing_ahead = whose != Whose::made_ahead});
  ASSERT_TRUE(manager);
  const auto request_to_say = [&] {
    Request request = misbehave({"say", folder.path("ran")});
    request.grants.push_back(Grant::write(folder.path()));
    request.limits.memory_bytes = 256 << 20;
    request.limits.processes = 16;
    request.limits.open_files = 64;
    request.network = Network::loopback;
    request.timeout = 20s;
    const SecretValue hush = SecretValue::copy_of("hush").value();
    request.secrets = {{"A", hush, Secret::Delivery::env},
                       {"B", hush, Secret::Delivery::fd},
                       {"C", hush, Secret::Delivery::file}};
    request.explain = whose == Whose::explained;
    return request;
  };
  const auto run = [&] { return run_to_end(*manager, request_to_say()); };

  make_ids(*manager, request_to_say());
  // More than one: from the second on, things are made ahead.
  for (int i = 0; i < 3; ++i) {
    const Outcome usual = run();
    ASSERT_EQ(usual.exit_code, 0) << to_json(usual);
  }
  ASSERT_TRUE(std::filesystem::remove(folder.path("ran"))) << "this is how it shows that it ran";
  const Traces before = traces_at_rest();
  for (const FailedStep& step : steps) {
    failing = step;
    op = Op::exit;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run();
    if (op == Op::exit) {
      std::filesystem::remove(folder.path("ran"));
      continue;
    }
    SCOPED_TRACE("role " + std::to_string(static_cast<int>(step.role)) + " step " +
                 std::to_string(step.index) + " " + explanation.name + " " + explanation.argument);
    EXPECT_EQ(outcome.verdict, Verdict::failed_to_start);
    EXPECT_THAT(explanation.name, Not(HasSubstr("unknown")));
    EXPECT_EQ(exit_status(outcome), 125);
    ASSERT_TRUE(outcome.error);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
    if (fault == Fault::error && op != Op::receive &&
        op != Op::ready) {  // the filters are in place then: it just dies
      EXPECT_EQ(outcome.error->os_error, ENOSYS) << outcome.error->message;
      EXPECT_THAT(explanation.name, HasSubstr(outcome.error->stage));
      EXPECT_THAT(outcome.error->message, HasSubstr(explanation.argument));
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path("ran"))) << "the program ran";
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_EQ(traces_settled(before), before);
  failing.reset();
  EXPECT_EQ(run().exit_code, 0) << "the backend still works";
  manager.reset();
  EXPECT_EQ(traces_settled(empty), empty);
  std::printf("%zu steps failed in turn\n", steps.size());
}

TEST_P(EachStep, ThatFailsKeepsTheProgramFromRunning) {  // C40
  in_own_process(user(), [] { fail_each_step(GetParam(), Fault::error); });
}

TEST_P(EachStep, ThatIsNotSurvivedKeepsTheProgramFromRunning) {
  in_own_process(user(), [] { fail_each_step(GetParam(), Fault::crash); });
}

std::string name_of(const testing::TestParamInfo<Whose>& whose) {
  if (whose.param == Whose::ordinary) return "OrdinaryUser";
  if (whose.param == Whose::explained) return "Explained";
  return whose.param == Whose::whole ? "Caller" : "MadeAhead";
}

INSTANTIATE_TEST_SUITE_P(, EachStep,
                         testing::Values(Whose::whole, Whose::made_ahead, Whose::ordinary,
                                         Whose::explained),
                         name_of);

}  // namespace
}  // namespace cordon::linux_tests
